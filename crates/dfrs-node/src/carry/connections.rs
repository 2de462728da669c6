//! TCP connections within a job, which a dump leaves in repair mode, behind rules of the packet
//! filter.
//!
//! criu sets both so that nothing changes while it dumps, and takes both back only where a dump
//! fails, or in a restore (`--tcp-established`, criu 3.17 to 4.1). What goes on where it was dumped
//! could not send then, and rules that stay would stop later connections between the same ports.
//! They are iptables's, as the dump asks for those.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::Command;

use nix::sys::socket::{getsockopt, setsockopt, sockopt::TcpRepair};
use rustix::io::Errno;
use rustix::net::{AddressFamily, getpeername, getsockname, sockopt::socket_domain};
use rustix::process::{ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::procfs;
use super::tree::JobTree;

/// By which criu knows its own packets (`SOCCR_MARK`), as its rules have it.
const MARK: &str = "0xc114";
/// What has the rules about connections of IPv4, and of IPv6.
const PROGRAMS: [(&str, AddressFamily); 2] = [
    ("/usr/sbin/iptables", AddressFamily::INET),
    ("/usr/sbin/ip6tables", AddressFamily::INET6),
];
const REPAIR_ON: u32 = 1;
const REPAIR_OFF: u32 = 0;

/// Sockets that are in repair mode.
#[derive(Debug)]
pub struct RepairedConnections(Vec<OwnedFd>);

impl RepairedConnections {
    /// Those of a job. O(its descriptors).
    ///
    /// # Errors
    ///
    /// If a process of it cannot be looked into; one line.
    pub fn of(tree: &JobTree) -> Result<RepairedConnections, String> {
        let (mut seen, mut sockets) = (BTreeSet::new(), Vec::new());
        for process in tree.inside()? {
            for name in procfs::names(process, "fd") {
                let link = procfs::link(process, &format!("fd/{name}"));
                let link = link.filter(|link| link.starts_with("socket:"));
                let Some((link, number)) = link.zip(name.parse().ok()) else {
                    continue;
                };
                if !seen.insert(link) {
                    continue;
                }
                let socket = match descriptor(process, number) {
                    // The job runs, and has closed it, or ended.
                    Err(Errno::BADF | Errno::SRCH) => continue,
                    other => other.map_err(|error| {
                        format!("process {process}, descriptor {name}: {error}")
                    })?,
                };
                // Sockets of other kinds have no such option.
                if getsockopt(&socket, TcpRepair) == Ok(REPAIR_ON) {
                    sockets.push(socket);
                }
            }
        }
        Ok(RepairedConnections(sockets))
    }

    /// Removes criu's rules about them.
    ///
    /// # Errors
    ///
    /// If one is left; one line.
    pub fn open_packet_filter(&self) -> Result<(), String> {
        for (program, family) in PROGRAMS {
            let sockets = self.0.iter();
            let sockets = sockets.filter(|socket| socket_domain(socket) == Ok(family));
            let ports: BTreeSet<[u16; 2]> = sockets.filter_map(ports).collect();
            if !ports.is_empty() {
                remove_rules(program, &ports).map_err(|error| format!("{program}: {error}"))?;
            }
        }
        Ok(())
    }

    /// Lets them send and receive again.
    ///
    /// # Errors
    ///
    /// If the kernel refuses; one line.
    pub fn end_repair(&self) -> Result<(), String> {
        let mut sockets = self.0.iter();
        sockets
            .try_for_each(|socket| setsockopt(socket, TcpRepair, &REPAIR_OFF))
            .map_err(|error| format!("repair mode of a TCP connection: {error}"))
    }
}

fn descriptor(process: u32, number: ForeignRawFd) -> Result<OwnedFd, Errno> {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let process = pidfd_open(process.ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty())
}

/// The lower port first.
fn ports(socket: &OwnedFd) -> Option<[u16; 2]> {
    let own = SocketAddr::try_from(getsockname(socket).ok()?).ok()?;
    let other = SocketAddr::try_from(getpeername(socket).ok()??).ok()?;
    let mut ports = [own.port(), other.port()];
    ports.sort_unstable();
    Some(ports)
}

fn remove_rules(program: &str, ports: &BTreeSet<[u16; 2]>) -> Result<(), String> {
    let run = |words: &[&str]| {
        let done = Command::new(program)
            .args(["--wait", "5"])
            .args(words)
            .output();
        let done = done.map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&done.stderr);
                Err(said.lines().next().unwrap_or("no word").to_owned())
            }
        }
    };
    let rules = run(&["--list-rules"])?;
    for rule in rules.lines().filter(|rule| is_about(rule, ports)) {
        let words: Vec<&str> = rule.split_whitespace().skip(1).collect();
        run(&[&["--delete"], &words[..]].concat())?;
    }
    Ok(())
}

/// Whether a rule, as `--list-rules` prints it, is criu's, about one of these connections.
fn is_about(rule: &str, ports: &BTreeSet<[u16; 2]>) -> bool {
    let words: Vec<&str> = rule.split_whitespace().collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let port = |name| after(name).and_then(|word| word.parse::<u16>().ok());
    let is_criu = words.first() == Some(&"-A") && after("--mark") == Some(MARK);
    port("--sport")
        .zip(port("--dport"))
        .is_some_and(|(one, other)| is_criu && ports.contains(&[one.min(other), one.max(other)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn rules_of_criu_about_a_connection_are_known() {
        let rule = |ports: &str, mark: &str| {
            format!(
                "-A INPUT -s 127.0.0.1/32 -d 127.0.0.1/32 -p tcp -m mark ! --mark {mark} -m tcp \
                 {ports} -j DROP"
            )
        };
        let known = BTreeSet::from([[33759, 37612]]);
        assert!(is_about(
            &rule("--sport 37612 --dport 33759", "0xc114"),
            &known
        ));
        assert!(is_about(
            &rule("--sport 33759 --dport 37612", "0xc114"),
            &known
        ));
        for other in [
            rule("--sport 37612 --dport 33760", "0xc114"),
            rule("--sport 37612 --dport 33759", "0x1"),
            rule("--dport 33759", "0xc114"),
            "-P INPUT ACCEPT".to_owned(),
        ] {
            assert!(!is_about(&other, &known), "{other}");
        }
    }

    #[test]
    fn ports_of_a_connection_are_the_same_at_both_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (other, _) = listener.accept().unwrap();
        let expected = ports(&OwnedFd::from(one.try_clone().unwrap()));
        assert!(expected.is_some());
        assert_eq!(ports(&OwnedFd::from(other)), expected);
        assert_eq!(ports(&OwnedFd::from(listener)), None);
        assert_eq!(getsockopt(&one, TcpRepair), Ok(REPAIR_OFF));
    }
}
