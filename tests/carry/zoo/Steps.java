// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.SynchronousQueue;

/** One thread computes, the other prints. */
public class Steps {
    public static void main(String[] arguments) throws Exception {
        SynchronousQueue<Long> results = new SynchronousQueue<>();
        Thread worker = new Thread(() -> compute(results));
        worker.start();
        for (int step = 0; step < 26; step++) {
            System.out.println(step + " " + results.take());
            Thread.sleep(500);
        }
        worker.join();
    }

    private static void compute(SynchronousQueue<Long> results) {
        Random random = new Random(3);
        List<byte[]> garbage = new ArrayList<>();
        long sum = 1;
        try {
            for (int step = 0; step < 26; step++) {
                for (int index = 0; index < 100000; index++) {
                    sum = sum * 6364136223846793005L + random.nextInt();
                }
                garbage.add(new byte[100000]);
                if (step % 5 == 4) {
                    garbage.clear();
                }
                results.put(sum);
            }
        } catch (InterruptedException interrupted) {
            System.out.println("interrupted");
        }
    }
}
