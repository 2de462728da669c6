//! The sockets of a network namespace, and which of a job's can be carried.
//!
//! Addresses are those of `/proc/PID/net`; which unix socket is connected with which, only the
//! kernel's socket diagnosis says ([`super::unix_peers`]).

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What is known of all sockets in the namespace.
#[derive(Debug, Clone, Default)]
pub struct SocketTable {
    /// TCP and UDP sockets, by inode.
    internet: BTreeMap<u64, InternetSocket>,
    /// Unix sockets, by inode.
    unix: BTreeMap<u64, UnixSocket>,
    /// Which unix socket is connected with which; none if the kernel did not say.
    peers: Option<BTreeMap<u64, u64>>,
    /// The job's own, by inode.
    own: BTreeSet<u64>,
    /// criu can hold packets back while it dumps a connection.
    holds_packets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InternetSocket {
    protocol: Protocol,
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct UnixSocket {
    connected: bool,
    /// The file that is its name; an abstract name is none.
    file: Option<String>,
}

/// Which table a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `tcp` and `tcp6`.
    Tcp,
    /// `udp` and `udp6`.
    Udp,
}

/// Whether a socket can be carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketVerdict {
    /// It can.
    Fine,
    /// It cannot: what the process has, as a part of a sentence.
    Refused(String),
}

/// States of `/proc/net/tcp`.
const LISTEN: u8 = 10;
const CLOSED: u8 = 7;
const ESTABLISHED: u8 = 1;
/// The state of a connected socket in `/proc/net/unix`.
const UNIX_CONNECTED: u8 = 3;
/// One that is not connected, or listens.
const UNIX_UNCONNECTED: u8 = 1;

impl SocketTable {
    /// Takes in the text of `/proc/PID/net/tcp` and the like.
    pub fn add_internet(&mut self, protocol: Protocol, text: &str) {
        for line in text.lines() {
            if let Some((inode, socket)) = internet_socket(protocol, line) {
                self.internet.insert(inode, socket);
            }
        }
    }

    /// Takes in the text of `/proc/PID/net/unix`.
    pub fn add_unix(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((inode, socket)) = unix_socket(line) {
                self.unix.insert(inode, socket);
            }
        }
    }

    /// Takes in which unix sockets are connected with which.
    pub fn set_peers(&mut self, peers: BTreeMap<u64, u64>) {
        self.peers = Some(peers);
    }

    /// Says that criu can hold packets back, as it does while it dumps a connection.
    pub fn set_holds_packets(&mut self) {
        self.holds_packets = true;
    }

    /// Says that a process of the job has this socket.
    pub fn own(&mut self, inode: u64) {
        self.own.insert(inode);
    }

    /// Whether a socket of the job's can be carried.
    pub fn judge(&self, inode: u64) -> SocketVerdict {
        let reason = match (self.internet.get(&inode), self.unix.get(&inode)) {
            (Some(socket), _) => self.internet_reason(socket),
            (None, Some(socket)) => self.unix_reason(inode, socket),
            (None, None) => Some("has a socket of a kind that is not carried".to_owned()),
        };
        reason.map_or(SocketVerdict::Fine, SocketVerdict::Refused)
    }

    fn internet_reason(&self, socket: &InternetSocket) -> Option<String> {
        let InternetSocket {
            protocol,
            local,
            remote,
            state,
        } = socket;
        let kind = match protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        };
        let local_ip = local.ip();
        if !(local_ip.is_loopback() || local_ip.is_unspecified()) && *state != ESTABLISHED {
            return Some(format!(
                "has a {kind} socket at {local}, an address of this node"
            ));
        }
        let is_unconnected = remote.port() == 0 && remote.ip().is_unspecified();
        let is_quiet = match protocol {
            Protocol::Tcp => [LISTEN, CLOSED].contains(state),
            Protocol::Udp => true,
        };
        if is_unconnected && is_quiet {
            return None;
        }
        // Both ends go, if the other is the job's, too, and needs no address of this node.
        let is_inside = local_ip.is_loopback()
            && *state == ESTABLISHED
            && self.own.iter().any(|inode| {
                self.internet.get(inode).is_some_and(|other| {
                    other.protocol == *protocol && other.local == *remote && other.remote == *local
                })
            });
        match (is_inside, self.holds_packets || *protocol == Protocol::Udp) {
            (true, true) => None,
            (true, false) => Some(format!(
                "has a TCP connection within the job ({local}), for which criu needs iptables"
            )),
            (false, _) => Some(format!("has a {kind} connection with {remote}")),
        }
    }

    fn unix_reason(&self, inode: u64, socket: &UnixSocket) -> Option<String> {
        // criu removes what has its name, and makes it again, as root.
        if let Some(file) = &socket.file {
            return Some(format!("has a unix socket with a name ({file})"));
        }
        let outside = "has a unix socket to a process outside of the job".to_owned();
        let Some(peers) = &self.peers else {
            return socket.connected.then(|| {
                "has a unix socket, and the kernel does not say to which process".to_owned()
            });
        };
        match peers.get(&inode) {
            Some(peer) if self.own.contains(peer) => None,
            Some(_) => Some(outside),
            // Its peer is closed, or, of datagrams, it has none.
            None => None,
        }
    }
}

/// A line like `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 4711 ...`.
fn internet_socket(protocol: Protocol, line: &str) -> Option<(u64, InternetSocket)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let inode: u64 = words.get(9)?.parse().ok()?;
    let socket = InternetSocket {
        protocol,
        local: address(words.get(1)?)?,
        remote: address(words.get(2)?)?,
        state: u8::from_str_radix(words.get(3)?, 16).ok()?,
    };
    // Without an inode it belongs to no process any more.
    (inode != 0).then_some((inode, socket))
}

/// An address as `0100007F:1F90`: words in the machine's order of bytes, then the port. An IPv4
/// address that is written as one of IPv6 is the same.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for at in (0..address.len()).step_by(8) {
        let word = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

/// A line like `ffff8880: 00000002 00000000 00010000 0001 01 4711 /path`.
fn unix_socket(line: &str) -> Option<(u64, UnixSocket)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let state = u8::from_str_radix(words.get(5)?, 16).ok()?;
    let inode = words.get(6)?.parse().ok()?;
    let connected = match state {
        UNIX_UNCONNECTED => false,
        UNIX_CONNECTED => true,
        // About to be connected, or not any more.
        _ => true,
    };
    let name = words.get(7..).unwrap_or_default().join(" ");
    let is_file = !name.is_empty() && !name.starts_with('@');
    let file = is_file.then_some(name);
    Some((inode, UnixSocket { connected, file }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 10 1
   1: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000  1000        0 11 1
   2: 0100007F:C000 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 12 1
   3: 0200000A:C001 0300000A:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 13 1
   4: 0200000A:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1
   5: 0100007F:C002 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 0 3
";
    const TCP6: &str = "\
   0: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 20 1
   1: 0000000000000000FFFF00000100007F:1F91 0000000000000000FFFF00000100007F:C005 01 0:0 0:0 0 0 0 21 1
";
    const UNIX: &str = "\
Num       RefCount Protocol Flags    Type St Inode Path
00000000: 00000002 00000000 00010000 0001 01 30 @abstract
00000000: 00000003 00000000 00000000 0001 03 31
00000000: 00000003 00000000 00000000 0001 03 32
00000000: 00000003 00000000 00000000 0001 03 33
00000000: 00000002 00000000 00000000 0002 01 34
00000000: 00000002 00000000 00010000 0001 01 35 /home/alice/a socket
";

    fn table(own: &[u64]) -> SocketTable {
        let mut table = SocketTable::default();
        table.add_internet(Protocol::Tcp, TCP);
        table.add_internet(Protocol::Tcp, TCP6);
        table.add_unix(UNIX);
        own.iter().for_each(|inode| table.own(*inode));
        table
    }

    fn reason(table: &SocketTable, inode: u64) -> String {
        match table.judge(inode) {
            SocketVerdict::Fine => String::new(),
            SocketVerdict::Refused(reason) => reason,
        }
    }

    #[test]
    fn listeners_at_no_address_of_the_node_are_fine() {
        let table = table(&[10, 14, 20]);
        assert_eq!(table.judge(10), SocketVerdict::Fine);
        assert_eq!(table.judge(20), SocketVerdict::Fine);
        assert!(reason(&table, 14).contains("10.0.0.2:80, an address of this node"));
    }

    #[test]
    fn connections_are_fine_if_both_ends_are_the_jobs() {
        let mut both = table(&[11, 12]);
        assert!(reason(&both, 11).contains("needs iptables"));
        both.set_holds_packets();
        assert_eq!(
            (both.judge(11), both.judge(12)),
            (SocketVerdict::Fine, SocketVerdict::Fine)
        );
        let one = table(&[11, 13, 21]);
        assert!(reason(&one, 11).contains("TCP connection with 127.0.0.1:49152"));
        assert!(reason(&one, 13).contains("TCP connection with 10.0.0.3:443"));
        assert!(reason(&one, 21).contains("127.0.0.1:49157"));
    }

    #[test]
    fn unix_sockets_are_fine_if_their_peer_is_the_jobs_or_there_is_none() {
        let mut table = table(&[30, 31, 32, 33, 34, 35]);
        assert_eq!(table.judge(30), SocketVerdict::Fine);
        assert!(reason(&table, 31).contains("does not say"));
        table.set_peers(BTreeMap::from([(31, 32), (32, 31), (33, 99)]));
        for inode in [30, 31, 32, 34] {
            assert_eq!(table.judge(inode), SocketVerdict::Fine, "{inode}");
        }
        assert!(reason(&table, 33).contains("outside"));
        assert!(reason(&table, 35).contains("a name (/home/alice/a socket)"));
    }

    #[test]
    fn unconnected_udp_is_fine_and_connected_is_not() {
        let mut table = SocketTable::default();
        let line = |inode: u64, remote: &str, state: &str| {
            format!("0: 00000000:0035 {remote} {state} 0:0 0:0 0 0 0 {inode} 2\n")
        };
        table.add_internet(Protocol::Udp, &line(1, "00000000:0000", "07"));
        table.add_internet(Protocol::Udp, &line(2, "0300000A:0202", "01"));
        assert_eq!(table.judge(1), SocketVerdict::Fine);
        assert!(reason(&table, 2).contains("UDP connection with 10.0.0.3:514"));
    }

    #[test]
    fn what_is_in_no_table_is_refused_and_odd_lines_are_left_out() {
        let mut table = SocketTable::default();
        table.add_internet(
            Protocol::Tcp,
            "0: x\n\n0: 0100007:1 00000000:0 0A 0 0 0 0 0 5\n",
        );
        table.add_unix("0: 1 2 3 4 zz 6\n");
        for inode in [0, 5, 6] {
            assert!(reason(&table, inode).contains("kind that is not carried"));
        }
    }
}
