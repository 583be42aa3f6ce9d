//! Frames as bytes, with limits before anything is allocated.

pub use crate::cbor::WireError;
use crate::frame::Frame;

/// What a frame of the control stream may be, type and map together.
pub const CONTROL_LIMIT: usize = 64 * 1024;
/// What the first frame of a job stream may be: the job.
pub const JOB_LIMIT: usize = 2 * 1024 * 1024;
/// What a later frame of a validator may be there: the largest sealed result has 65 KiB.
pub const HANDOVER_LIMIT: usize = 80 * 1024;
/// What a frame has at most besides the bytes that it carries: its length, type, names, and signature.
pub const FRAME_OVERHEAD: usize = 512;
/// What a stream keeps between frames.
const SPARE: usize = 1024;

/// A frame as it travels.
pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.push(frame.number());
    frame.write(&mut out);
    let length = u32::try_from(out.len() - 4).expect("nobody makes frames of 4 GiB");
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

/// What a length says, if it is allowed.
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

/// A frame from what follows its length.
pub fn decode(body: &[u8]) -> Result<Frame, WireError> {
    let (number, map) = body.split_first().ok_or(WireError::Empty)?;
    Frame::read(*number, map)
}

/// Cuts frames out of a stream's bytes, however they come.
#[derive(Debug)]
pub struct Cutter {
    limit: usize,
    waiting: Vec<u8>,
}

/// What a stream needs before there is another frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// So many bytes, until it is known how long the next frame is.
    Length(usize),
    /// So many bytes of a frame that is so long.
    Body {
        missing: usize,
        /// All of the frame, with its length.
        whole: usize,
    },
}

impl Cutter {
    /// With the limit of its stream.
    pub fn new(limit: usize) -> Self {
        Self { limit, waiting: Vec::new() }
    }

    /// More bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// Frames have another limit from now on.
    pub fn limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// What is missing to the next frame.
    pub fn needs(&self) -> Result<Needs, WireError> {
        let Some(prefix) = self.waiting.first_chunk::<4>() else {
            return Ok(Needs::Length(4 - self.waiting.len()));
        };
        let whole = 4 + length(*prefix, self.limit)?;
        Ok(Needs::Body { missing: whole.saturating_sub(self.waiting.len()), whole })
    }

    /// Bytes that are no whole frame yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next frame that is there as a whole. After an error the stream is of no use any more.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, WireError> {
        let Some((prefix, rest)) = self.waiting.split_first_chunk::<4>() else { return Ok(None) };
        let length = length(*prefix, self.limit)?;
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let frame = decode(body)?;
        self.waiting.drain(..4 + length);
        // A long frame leaves no long buffer behind: a job's stream is open for as long as its job.
        self.waiting.shrink_to(SPARE);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::JobResult;
    use remuda_protocol::primitives::B256;

    #[test]
    fn a_long_frame_leaves_no_long_buffer_behind() {
        let data = vec![1; JOB_LIMIT - 1_000];
        let frame = JobResult { job_id: B256::ZERO, result_data: data, runner_signed: [1; 65] };
        let mut cutter = Cutter::new(JOB_LIMIT);
        cutter.push(&encode(&frame.into()));
        assert!(matches!(cutter.next_frame(), Ok(Some(_))));
        assert!(cutter.waiting.capacity() <= SPARE, "{}", cutter.waiting.capacity());
    }
}
