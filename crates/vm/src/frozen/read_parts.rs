//! Objects that have parts of their own: functions, classes, exceptions, generators, iterators.

use super::read::{Read, Thaw};
use super::{ThawError, kind};
use crate::code::Kind;
use crate::heap::object::{Class, Exception, Function, Generator, Iter, Obj, Suspended};
use crate::heap::types::TYPES;

impl Thaw<'_> {
    pub(super) fn function(&mut self) -> Read<Obj> {
        Ok(Obj::Function(Box::new(Function {
            code: self.code()?,
            globals: self.handle()?,
            defaults: self.value()?,
            keyword_defaults: self.value()?,
            closure: self.value()?,
            name: self.value()?,
            qualname: self.value()?,
            annotations: self.value()?,
            dict: self.maybe()?,
        })))
    }

    pub(super) fn class(&mut self) -> Read<Obj> {
        let name = self.value()?;
        let bases = self.handles()?;
        let mro = self.handles()?;
        let derived = self.handles()?;
        let dict = self.handle()?;
        let meta = self.handle()?;
        let layout = TYPES.get(self.size()?).ok_or(ThawError::Malformed("a layout"))?.0;
        let builtin = self.bytes.flag()?;
        Ok(Obj::Class(Box::new(Class { name, bases, mro, derived, dict, meta, layout, builtin })))
    }

    pub(super) fn exception(&mut self) -> Read<Obj> {
        let class = self.handle()?;
        let (args, cause, context) = (self.value()?, self.value()?, self.value()?);
        let suppress = self.bytes.flag()?;
        let dict = self.maybe()?;
        let mut traceback = Vec::new();
        for _ in 0..self.bytes.count()? {
            traceback.push((self.code()?, self.bytes.small()?));
        }
        let serial = self.bytes.number()?;
        Ok(Obj::Exception(Box::new(Exception {
            class,
            args,
            cause,
            context,
            suppress,
            dict,
            traceback,
            serial,
        })))
    }

    pub(super) fn generator(&mut self) -> Read<Obj> {
        let kind = match self.bytes.byte()? {
            1 => Kind::Generator,
            2 => Kind::Coroutine,
            3 => Kind::AsyncGenerator,
            _ => return Err(ThawError::Malformed("a kind of generator")),
        };
        let name = self.value()?;
        let running = self.bytes.flag()?;
        let owned = self.bytes.flag()?;
        let frame = if self.bytes.flag()? {
            Some(Suspended {
                code: self.code()?,
                pc: self.bytes.small()?,
                globals: self.handle()?,
                handling: self.value()?,
                slots: self.values()?,
            })
        } else {
            None
        };
        Ok(Obj::Generator(Box::new(Generator { kind, name, frame, running, owned })))
    }

    pub(super) fn iter(&mut self, kind: u8) -> Read<Iter> {
        Ok(match kind {
            kind::ITER_SEQUENCE => Iter::Sequence { source: self.value()?, next: self.size()? },
            kind::ITER_REVERSED => Iter::Reversed { source: self.value()?, left: self.size()? },
            kind::ITER_DICT => {
                let view = self.view()?;
                let reversed = self.bytes.flag()?;
                let source = self.handle()?;
                Iter::Dict { source, view, next: self.size()?, length: self.size()?, reversed }
            }
            kind::ITER_RANGE => Iter::Range {
                next: self.bytes.signed()?,
                left: self.bytes.number()?,
                step: self.bytes.signed()?,
            },
            kind::ITER_ENUMERATE => {
                Iter::Enumerate { inner: self.value()?, count: self.bytes.signed()? }
            }
            kind::ITER_ZIP => {
                let strict = self.bytes.flag()?;
                Iter::Zip { inner: self.values()?, strict }
            }
            kind::ITER_DONE => Iter::Done,
            _ => return Err(ThawError::Malformed("a kind of object")),
        })
    }
}
