//! Clients that the server waits for: until their request is there, and until they have taken the
//! answer. The slowest clients make place for others.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections by the number of their client: the least came first.
#[derive(Default)]
pub(super) struct OpenConnections(Mutex<BTreeMap<usize, TcpStream>>);

/// The client is waited for as long as this guard lives.
pub(super) struct ConnectionGuard<'a> {
    waiting: &'a OpenConnections,
    number: usize,
}

impl OpenConnections {
    /// Waits for this client.
    ///
    /// # Errors
    ///
    /// No file descriptor is left.
    pub(super) fn with(
        &self,
        number: usize,
        stream: &TcpStream,
    ) -> io::Result<ConnectionGuard<'_>> {
        let stream = stream.try_clone()?;
        self.streams().insert(number, stream);
        let waiting = self;
        Ok(ConnectionGuard { waiting, number })
    }

    /// Closes the oldest connection; false: there is none.
    pub(super) fn close_oldest(&self) -> bool {
        let Some((_, stream)) = self.streams().pop_first() else {
            return false;
        };
        let _ = stream.shutdown(Shutdown::Both); // it may have gone away meanwhile
        true
    }

    fn streams(&self) -> MutexGuard<'_, BTreeMap<usize, TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        self.waiting.streams().remove(&self.number);
    }
}
