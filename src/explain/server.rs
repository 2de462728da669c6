//! The thread that talks to all clients at once, and waits for none.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Requester;
use super::client::{Client, ClientAction};
use super::queues::{PendingQuestion, Queues};
use super::socket::Socket;

/// Clients at one time.
const MAX_CLIENTS: usize = 64;
/// Clients of one user.
pub(super) const MAX_CLIENTS_PER_USER: usize = 4;
/// Places that only root and SlurmUser get.
const RESERVED: usize = 8;
/// After the system had no more room, clients wait so long.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(200);

pub(super) struct Server {
    socket: Socket,
    queues: Arc<Queues>,
    woken: UnixStream,
    slurm_user: u32,
    clients: BTreeMap<u64, Client>,
    next_token: u64,
}

impl Server {
    pub(super) fn new(
        socket: Socket,
        queues: Arc<Queues>,
        woken: UnixStream,
        slurm_user: u32,
    ) -> Self {
        Self {
            socket,
            queues,
            woken,
            slurm_user,
            clients: BTreeMap::new(),
            next_token: 0,
        }
    }

    /// Until the queues is closed.
    pub(super) fn run(&mut self) {
        while !self.queues.is_closed() {
            let happened = self.wait();
            let now = Instant::now();
            for (token, answer) in self.queues.take_answers() {
                if let Some(client) = self.clients.get_mut(&token) {
                    client.answer(&answer, now);
                }
            }
            for (token, flags) in happened {
                let next = self
                    .clients
                    .get_mut(&token)
                    .map(|it| it.on_ready(flags, now));
                self.apply(token, next);
            }
            let late = self.clients.iter().filter(|(_, it)| it.deadline() <= now);
            for token in late.map(|(token, _)| *token).collect::<Vec<_>>() {
                let next = self.clients.get_mut(&token).map(|it| it.on_timeout(now));
                self.apply(token, next);
            }
            self.accept(now);
        }
    }

    /// Waits until something happens or a client times out; returns what happened on which clients'
    /// streams.
    fn wait(&mut self) -> Vec<(u64, PollFlags)> {
        let earliest = self.clients.values().map(Client::deadline).min();
        let wait = earliest.map(|at| at.saturating_duration_since(Instant::now()));
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let mut streams = vec![
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::new(self.socket.listener(), PollFlags::IN),
        ];
        let clients = self.clients.values();
        streams.extend(clients.map(|it| PollFd::new(it.stream(), it.interest())));
        if poll(&mut streams, wait.as_ref()).is_err() {
            return Vec::new(); // a signal
        }
        let happened: Vec<PollFlags> = streams.iter().skip(2).map(PollFd::revents).collect();
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(count) if count == bytes.len()) {}
        let tokens = self.clients.keys().copied();
        let both = tokens.zip(happened);
        both.filter(|(_, flags)| !flags.is_empty()).collect()
    }

    fn apply(&mut self, token: u64, next: Option<ClientAction>) {
        match (next, self.clients.get(&token)) {
            (Some(ClientAction::Ask(question)), Some(client)) => self.queues.ask(PendingQuestion {
                token,
                requester: client.requester,
                question,
            }),
            (Some(ClientAction::Close), _) => {
                self.queues.withdraw(token);
                self.clients.remove(&token);
            }
            _ => {}
        }
    }

    /// Accepts all connections that wait; closes at once what is too many.
    fn accept(&mut self, now: Instant) {
        // Not for ever: those that are in have to be served.
        for _ in 0..MAX_CLIENTS {
            match self.socket.accept() {
                Ok(None) => return,
                Ok(Some((stream, user))) => {
                    let sees_all = user == 0 || user == self.slurm_user;
                    let requester = Requester { user, sees_all };
                    if self.has_room(requester) {
                        self.next_token += 1;
                        let client = Client::new(stream, requester, now);
                        self.clients.insert(self.next_token, client);
                    }
                }
                // No more files: accept(2) would fail again at once.
                Err(_) => return std::thread::sleep(ACCEPT_BACKOFF),
            }
        }
    }

    fn has_room(&self, requester: Requester) -> bool {
        if requester.sees_all {
            return self.clients.len() < MAX_CLIENTS;
        }
        let clients = self.clients.values();
        let own = clients.filter(|client| client.requester.user == requester.user);
        self.clients.len() < MAX_CLIENTS - RESERVED && own.count() < MAX_CLIENTS_PER_USER
    }
}
