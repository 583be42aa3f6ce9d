//! Wires with a delay: what goes in at one end comes out at the other a while later, in order.
//!
//! For measurements over a round trip on one machine. The kernel could delay packets itself
//! (`tc netem`), but not every kernel has that, and it takes root. Threads and not tasks: timers of the
//! runtime are a millisecond coarse.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// What may be on a wire at a time.
const ON_THE_WAY: usize = 65_536;
const DATAGRAM: usize = 65_536;
/// Questions that the wire's own round trip is measured with.
const ECHOES: usize = 100;

/// One direction: hands out what was put in, each after the delay.
fn delay_line<T: Send + 'static>(
    delay: Duration,
    mut out: impl FnMut(T) + Send + 'static,
) -> SyncSender<(Instant, T)> {
    let (sender, receiver): (_, Receiver<(Instant, T)>) = sync_channel(ON_THE_WAY);
    thread::spawn(move || {
        for (since, item) in receiver {
            let due = since + delay;
            let now = Instant::now();
            if due > now {
                thread::sleep(due - now);
            }
            out(item);
        }
    });
    sender
}

/// A wire for datagrams to an address. Returns its near end. It ends with the process.
pub(super) fn datagrams(near: IpAddr, far: SocketAddr, delay: Duration) -> io::Result<SocketAddr> {
    let socket = Arc::new(UdpSocket::bind((near, 0))?);
    let address = socket.local_addr()?;
    thread::spawn(move || {
        let mut callers: HashMap<SocketAddr, SyncSender<(Instant, Vec<u8>)>> = HashMap::new();
        let mut buffer = vec![0; DATAGRAM];
        while let Ok((length, caller)) = socket.recv_from(&mut buffer) {
            let now = Instant::now();
            let line = match callers.get(&caller) {
                Some(line) => line,
                None => match call(&socket, caller, far, delay) {
                    Ok(line) => callers.entry(caller).or_insert(line),
                    Err(_) => continue,
                },
            };
            // A full wire loses datagrams, as wires do.
            let _ = line.try_send((now, buffer[..length].to_vec()));
        }
    });
    Ok(address)
}

/// Both directions between a caller and the far end.
fn call(
    near: &Arc<UdpSocket>,
    caller: SocketAddr,
    far: SocketAddr,
    delay: Duration,
) -> io::Result<SyncSender<(Instant, Vec<u8>)>> {
    let upstream = Arc::new(UdpSocket::bind((far.ip(), 0))?);
    upstream.connect(far)?;
    let (near, answers) = (near.clone(), upstream.clone());
    let back = delay_line(delay, move |bytes: Vec<u8>| {
        let _ = near.send_to(&bytes, caller);
    });
    thread::spawn(move || {
        let mut buffer = vec![0; DATAGRAM];
        // The other side may not be there yet: that is an error of one datagram.
        loop {
            if let Ok(length) = answers.recv(&mut buffer) {
                let _ = back.try_send((Instant::now(), buffer[..length].to_vec()));
            }
        }
    });
    Ok(delay_line(delay, move |bytes: Vec<u8>| {
        let _ = upstream.send(&bytes);
    }))
}

/// A wire for connections to an address. Returns its near end. It ends with the process.
pub(super) fn connections(
    near: IpAddr,
    far: SocketAddr,
    delay: Duration,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((near, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let Ok(callee) = TcpStream::connect(far) else { continue };
            let _ = (caller.set_nodelay(true), callee.set_nodelay(true));
            let (Ok(caller_in), Ok(callee_in)) = (caller.try_clone(), callee.try_clone()) else {
                continue;
            };
            one_way(caller_in, callee, delay);
            one_way(callee_in, caller, delay);
        }
    });
    Ok(address)
}

/// Bytes of a connection; none of them at its end.
fn one_way(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let line = delay_line(delay, move |bytes: Vec<u8>| {
        if bytes.is_empty() || to.write_all(&bytes).is_err() {
            let _ = to.shutdown(Shutdown::Both);
        }
    });
    thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1_024];
        loop {
            let length = from.read(&mut buffer).unwrap_or(0);
            if line.send((Instant::now(), buffer[..length].to_vec())).is_err() || length == 0 {
                return;
            }
        }
    });
}

/// What a round trip over such a wire takes, in ascending order: an echo at its far end, nothing else.
pub fn round_trips(delay: Duration) -> io::Result<Vec<Duration>> {
    let here = IpAddr::from([127, 0, 0, 1]);
    let echo = UdpSocket::bind((here, 0))?;
    let far = echo.local_addr()?;
    thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut buffer) {
            let _ = echo.send_to(&buffer[..length], from);
        }
    });
    let near = datagrams(here, far, delay)?;
    let socket = UdpSocket::bind((here, 0))?;
    socket.connect(near)?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut times = Vec::new();
    for _ in 0..ECHOES {
        let since = Instant::now();
        socket.send(b"ping")?;
        socket.recv(&mut [0; 64])?;
        times.push(since.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_later_and_in_order() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let line = delay_line(Duration::from_millis(30), move |number: u32| {
            sender.send((number, Instant::now())).unwrap();
        });
        let since = Instant::now();
        for number in 0..100 {
            line.send((Instant::now(), number)).unwrap();
        }
        for wanted in 0..100 {
            let (number, at) = receiver.recv().unwrap();
            assert_eq!(number, wanted);
            assert!(at - since >= Duration::from_millis(30));
        }
    }

    #[test]
    fn a_round_trip_is_two_delays_at_least() {
        let times = round_trips(Duration::from_millis(5)).unwrap();
        assert!(times[0] >= Duration::from_millis(10), "{times:?}");
    }
}
