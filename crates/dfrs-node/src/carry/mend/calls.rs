//! Which system calls are made again, and with which registers.

use super::wire::WireMessage;

/// Fields of an image's thread that have the registers of x86-64.
mod register {
    pub const R10: u64 = 8;
    pub const AX: u64 = 11;
    pub const DX: u64 = 13;
    pub const SI: u64 = 14;
    pub const DI: u64 = 15;
    pub const ORIGINAL_AX: u64 = 16;
    pub const IP: u64 = 17;
    /// 2: a 32-bit program, whose system calls have other numbers.
    pub const MODE: u64 = 28;
}

const COMPATIBLE: u64 = 2;
/// `-EINTR`, as the kernel returns it.
const INTERRUPTED: u64 = (-4i64).cast_unsigned();
/// Bytes of the instruction `syscall`.
const INSTRUCTION_BYTES: u64 = 2;
const TIMER_ABSTIME: u64 = 1;

const NANOSLEEP: u64 = 35;
const CLOCK_NANOSLEEP: u64 = 230;

/// Calls that have done nothing if they end with EINTR, and may so be made again, with their names.
const REPEATABLE: &[(u64, &str)] = &[
    (7, "poll"),
    (NANOSLEEP, "nanosleep"),
    (43, "accept"),
    (45, "recvfrom"),
    (47, "recvmsg"),
    (65, "semop"),
    (128, "rt_sigtimedwait"),
    (202, "futex"),
    (220, "semtimedop"),
    (CLOCK_NANOSLEEP, "clock_nanosleep"),
    (232, "epoll_wait"),
    (271, "ppoll"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (441, "epoll_pwait2"),
];

/// Has an interrupted call made again; its name, if there was one. A sleep that was to say how much
/// of it is left gets that; other waits begin again with their whole time.
pub fn mend_registers(registers: &mut WireMessage) -> Option<&'static str> {
    let value = |field| registers.number(field);
    let call = value(register::ORIGINAL_AX)?;
    let (_, name) = REPEATABLE.iter().find(|(number, _)| *number == call)?;
    let is_interrupted = value(register::AX) == Some(INTERRUPTED);
    if !is_interrupted || value(register::MODE) == Some(COMPATIBLE) {
        return None;
    }
    let ip = value(register::IP)?.checked_sub(INSTRUCTION_BYTES)?;
    // Where the kernel has written how much is left, and which argument says how long to sleep.
    let rest = match call {
        NANOSLEEP => value(register::SI).map(|rest| (register::DI, rest)),
        CLOCK_NANOSLEEP if value(register::SI)? & TIMER_ABSTIME == 0 => {
            value(register::R10).map(|rest| (register::DX, rest))
        }
        _ => None,
    };
    registers.set_number(register::AX, call);
    registers.set_number(register::IP, ip);
    if let Some((argument, rest)) = rest.filter(|(_, rest)| *rest != 0) {
        registers.set_number(argument, rest);
    }
    Some(name)
}

#[cfg(test)]
pub mod tests {
    use super::super::wire::tests::number_field;
    use super::*;

    /// Registers in a call that was interrupted, with DI, SI, DX and R10.
    pub fn interrupted(call: u64, arguments: [u64; 4]) -> Vec<u8> {
        let [di, si, dx, r10] = arguments;
        let fields = [
            (1, 77),
            (register::R10, r10),
            (register::AX, INTERRUPTED),
            (register::DX, dx),
            (register::SI, si),
            (register::DI, di),
            (register::ORIGINAL_AX, call),
            (register::IP, 0x7f00_0000_1002),
            (register::MODE, 1),
        ];
        fields
            .iter()
            .flat_map(|(field, value)| number_field(*field, *value))
            .collect()
    }

    fn mended(call: u64, arguments: [u64; 4]) -> (WireMessage, Option<&'static str>) {
        let mut registers = WireMessage::read(&interrupted(call, arguments)).unwrap();
        let name = mend_registers(&mut registers);
        (registers, name)
    }

    fn argument_registers(message: &WireMessage) -> [Option<u64>; 4] {
        [register::DI, register::SI, register::DX, register::R10].map(|field| message.number(field))
    }

    #[test]
    fn poll_is_made_again_with_its_arguments() {
        let (registers, name) = mended(7, [1, 2, 3, 4]);
        assert_eq!(name, Some("poll"));
        assert_eq!(registers.number(register::AX), Some(7));
        assert_eq!(registers.number(register::IP), Some(0x7f00_0000_1000));
        assert_eq!(argument_registers(&registers), [1, 2, 3, 4].map(Some));
        assert_eq!(registers.number(1), Some(77));
    }

    #[test]
    fn sleeps_go_on_with_what_is_left() {
        let arguments = |call, values| argument_registers(&mended(call, values).0);
        assert_eq!(
            arguments(NANOSLEEP, [100, 200, 0, 0]),
            [200, 200, 0, 0].map(Some)
        );
        assert_eq!(
            arguments(NANOSLEEP, [100, 0, 0, 0]),
            [100, 0, 0, 0].map(Some)
        );
        assert_eq!(
            arguments(CLOCK_NANOSLEEP, [1, 0, 100, 200]),
            [1, 0, 200, 200].map(Some)
        );
        // An absolute time stays what it is.
        assert_eq!(
            arguments(CLOCK_NANOSLEEP, [1, 1, 100, 200]),
            [1, 1, 100, 200].map(Some)
        );
    }

    #[test]
    fn other_calls_other_results_and_other_programs_are_left_alone() {
        for (call, field, value) in [
            (0, register::AX, INTERRUPTED),
            (7, register::AX, 0),
            (u64::MAX, register::AX, INTERRUPTED),
            (7, register::MODE, COMPATIBLE),
        ] {
            let mut registers = WireMessage::read(&interrupted(call, [1; 4])).unwrap();
            registers.set_number(field, value);
            let before = registers.clone();
            assert_eq!(
                mend_registers(&mut registers),
                None,
                "{call} {field} {value}"
            );
            assert_eq!(registers, before);
        }
    }
}
