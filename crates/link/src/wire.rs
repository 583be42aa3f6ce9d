//! Encodes and decodes frames. Lengths are checked before anything is allocated.

pub use crate::cbor::WireError;
use crate::frame::Frame;

/// Bytes of a frame on the control stream: type and map.
pub const CONTROL_LIMIT: usize = 64 * 1024;
/// Bytes of the first frame on a job stream: the assignment.
pub const JOB_LIMIT: usize = 2 * 1024 * 1024;
/// Bytes of a validator's later frames on a job stream. The largest sealed result has 65 KiB.
pub const HANDOVER_LIMIT: usize = 80 * 1024;
/// Upper bound of a frame's bytes besides its payload: length, type, field names, signature.
pub const FRAME_OVERHEAD: usize = 512;
/// Buffer capacity that a stream keeps between frames.
const SPARE: usize = 1024;

pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.push(frame.number());
    frame.write(&mut out);
    let length = u32::try_from(out.len() - 4).expect("a frame is shorter than 4 GiB");
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

/// Decodes a length prefix and checks it.
pub fn length(prefix: [u8; 4], limit: usize) -> Result<usize, WireError> {
    let length = u32::from_be_bytes(prefix) as usize;
    if length > limit {
        return Err(WireError::TooLong { length, limit });
    }
    if length == 0 {
        return Err(WireError::Empty);
    }
    Ok(length)
}

/// Decodes the bytes after the length prefix.
pub fn decode(body: &[u8]) -> Result<Frame, WireError> {
    let (number, map) = body.split_first().ok_or(WireError::Empty)?;
    Frame::read(*number, map)
}

/// Splits a byte stream into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    limit: usize,
    buffer: Vec<u8>,
}

/// What the decoder lacks for the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Bytes of the length prefix.
    Length(usize),
    /// Bytes of a frame that has `whole` bytes with its length prefix.
    Body { missing: usize, whole: usize },
}

impl FrameDecoder {
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new() }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub fn needs(&self) -> Result<Needs, WireError> {
        let Some(prefix) = self.buffer.first_chunk::<4>() else {
            return Ok(Needs::Length(4 - self.buffer.len()));
        };
        let whole = 4 + length(*prefix, self.limit)?;
        Ok(Needs::Body { missing: whole.saturating_sub(self.buffer.len()), whole })
    }

    /// Bytes of a frame that is not complete yet.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// The next complete frame. The stream cannot be used after an error.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, WireError> {
        let Some((prefix, rest)) = self.buffer.split_first_chunk::<4>() else { return Ok(None) };
        let length = length(*prefix, self.limit)?;
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let frame = decode(body)?;
        self.buffer.drain(..4 + length);
        // A job's stream lives as long as its job, so a long frame must not keep its memory.
        self.buffer.shrink_to(SPARE);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::JobResult;
    use remuda_protocol::primitives::B256;

    #[test]
    fn buffer_shrinks_after_a_long_frame() {
        let data = vec![1; JOB_LIMIT - 1_000];
        let frame = JobResult { job_id: B256::ZERO, result_data: data, runner_signed: [1; 65] };
        let mut decoder = FrameDecoder::new(JOB_LIMIT);
        decoder.push(&encode(&frame.into()));
        assert!(matches!(decoder.next_frame(), Ok(Some(_))));
        assert!(decoder.buffer.capacity() <= SPARE, "{}", decoder.buffer.capacity());
    }
}
