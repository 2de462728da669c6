//! Asks the kernel which unix socket is connected with which (sock_diag(7)).

use std::collections::BTreeMap;
use std::io;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    sockopt,
};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_ALL: u16 = 0x301;
const UDIAG_SHOW_PEER: u32 = 4;
const UNIX_DIAG_PEER: u16 = 2;
const AF_UNIX: u8 = 1;
/// Bytes of a message's header, of the kernel's answer behind it, and of an attribute's header.
const HEADER_BYTES: usize = 16;
const ANSWER_BYTES: usize = 16;
const ATTRIBUTE_BYTES: usize = 4;
/// Where in the answer the inode is.
const INODE_AT: usize = HEADER_BYTES + 4;
/// The kernel answers at once.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// Which unix socket of this process's network namespace is connected with which, by inode.
///
/// # Errors
///
/// If the kernel does not say (`CONFIG_UNIX_DIAG`).
pub fn read() -> io::Result<BTreeMap<u64, u64>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(TIMEOUT))?;
    sendto(
        &socket,
        &request(),
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let (mut peers, mut piece) = (BTreeMap::new(), vec![0u8; 64 << 10]);
    loop {
        let (length, _) = recv(&socket, &mut piece[..], RecvFlags::empty())?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if take_in(&piece[..length], &mut peers)? {
            return Ok(peers);
        }
    }
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(40u32.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_ALL.to_ne_bytes());
    // Sequence number and port.
    bytes.extend([0; 8]);
    bytes.extend([AF_UNIX, 0, 0, 0]);
    // Sockets in all states; no certain inode.
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(UDIAG_SHOW_PEER.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// Takes in what the kernel has sent at once; whether that was the last.
fn take_in(mut bytes: &[u8], peers: &mut BTreeMap<u64, u64>) -> io::Result<bool> {
    while bytes.len() >= HEADER_BYTES {
        let (Some(length), Some(kind)) = (number(bytes, 0), half(bytes, 4)) else {
            break;
        };
        let length = length as usize;
        if length < HEADER_BYTES || length > bytes.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match kind {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => return Err(io::ErrorKind::Unsupported.into()),
            _ => {
                let message = &bytes[..length];
                if let (Some(inode), Some(peer)) = (number(message, INODE_AT), peer_in(message)) {
                    peers.insert(u64::from(inode), u64::from(peer));
                }
            }
        }
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Ok(false)
}

fn peer_in(message: &[u8]) -> Option<u32> {
    let mut attributes = message.get(HEADER_BYTES + ANSWER_BYTES..)?;
    while attributes.len() >= ATTRIBUTE_BYTES {
        let length = usize::from(half(attributes, 0)?);
        if length < ATTRIBUTE_BYTES {
            return None;
        }
        if half(attributes, 2)? == UNIX_DIAG_PEER {
            return number(attributes, ATTRIBUTE_BYTES).filter(|peer| *peer != 0);
        }
        attributes = attributes.get(aligned(length)..)?;
    }
    None
}

/// Messages and attributes begin at multiples of 4.
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    fn inode(socket: &impl AsRawFd) -> u64 {
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap();
        let link = link.to_str().unwrap().to_owned();
        link["socket:[".len()..link.len() - 1].parse().unwrap()
    }

    #[test]
    fn ends_of_a_pair_are_each_others_peers() {
        // A kernel may be built without.
        let Ok(peers) = read() else { return };
        let (one, other) = UnixStream::pair().unwrap();
        let alone = UnixDatagram::unbound().unwrap();
        let known = read().unwrap();
        assert!(!peers.contains_key(&inode(&one)));
        assert_eq!(known.get(&inode(&one)), Some(&inode(&other)));
        assert_eq!(known.get(&inode(&other)), Some(&inode(&one)));
        assert_eq!(known.get(&inode(&alone)), None);
    }

    #[test]
    fn answers_are_understood_to_their_end() {
        let mut answer = Vec::new();
        answer.extend(40u32.to_ne_bytes());
        answer.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        answer.extend([0; 10]);
        answer.extend([AF_UNIX, 1, 1, 0]);
        answer.extend(77u32.to_ne_bytes());
        answer.extend([0; 8]);
        answer.extend(8u16.to_ne_bytes());
        answer.extend(UNIX_DIAG_PEER.to_ne_bytes());
        answer.extend(78u32.to_ne_bytes());
        let mut peers = BTreeMap::new();
        assert!(!take_in(&answer, &mut peers).unwrap());
        assert_eq!(peers, BTreeMap::from([(77, 78)]));
        let mut done = 16u32.to_ne_bytes().to_vec();
        done.extend(NLMSG_DONE.to_ne_bytes());
        done.extend([0; 10]);
        assert!(take_in(&done, &mut peers).unwrap());
        done[4] = NLMSG_ERROR.to_ne_bytes()[0];
        assert!(take_in(&done, &mut peers).is_err());
        for length in 0..answer.len() {
            let _ = take_in(&answer[..length], &mut peers);
        }
    }
}
