//! From the protocol's types to their JSON form. The table of a type with the same fields is its
//! declaration: one that lacks a variant of the protocol, or has another field, does not compile.

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use alloy_primitives::{Address, B256};
use remuda_protocol::primitives::{Amount, Cells, Cycles, Height, Slot};

/// A protocol type that has a JSON form.
pub(crate) trait ToView {
    type View;
    fn to_view(&self) -> Self::View;
}

/// A JSON type with the names of a protocol type's fields, or variants and their fields.
macro_rules! view {
    (@from $view:ident of $of:ty) => {
        impl From<&$of> for $view {
            fn from(value: &$of) -> Self {
                $crate::types::view::ToView::to_view(value)
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $view:ident of $of:ty { $( $(#[$about:meta])* $field:ident: $ty:ty, )* }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        $(#[$meta])*
        pub struct $view { $( $(#[$about])* pub $field: $ty, )* }

        impl $crate::types::view::ToView for $of {
            type View = $view;
            fn to_view(&self) -> $view {
                $view { $( $field: $crate::types::view::ToView::to_view(&self.$field), )* }
            }
        }
        $crate::types::view::view! { @from $view of $of }
    };
    (
        $(#[$meta:meta])*
        pub enum $view:ident of $of:ident {
            $(
                $(#[$about:meta])*
                $variant:ident { $( $(#[$attribute:meta])* $field:ident: $ty:ty ),* $(,)? },
            )*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        $(#[$meta])*
        pub enum $view {
            $( $(#[$about])* $variant { $( $(#[$attribute])* $field: $ty, )* }, )*
        }

        impl $crate::types::view::ToView for $of {
            type View = $view;
            fn to_view(&self) -> $view {
                match self {
                    $( Self::$variant { $($field),* } => $view::$variant {
                        $( $field: $crate::types::view::ToView::to_view($field), )*
                    }, )*
                }
            }
        }
        $crate::types::view::view! { @from $view of $of }
    };
}
pub(crate) use view;

/// The same for an enum with many variants: a line for each, and the names.
macro_rules! named_view {
    (
        $(#[$meta:meta])*
        pub enum $view:ident of $of:ident;
        $( $variant:ident { $($field:ident: $ty:ty),* } $about:literal; )*
    ) => {
        $crate::types::view::view! {
            $(#[$meta])*
            pub enum $view of $of {
                $( #[doc = $about] $variant { $( #[doc = stringify!($field)] $field: $ty ),* }, )*
            }
        }

        impl $view {
            /// The name of its kind, as it stands in the JSON.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant { .. } => stringify!($variant), )* }
            }
        }
    };
}
pub(crate) use named_view;

/// A JSON enum that names the variants of a protocol enum, both ways.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $of:ty, $case:literal { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = $case)]
        pub enum $name { $( #[doc = stringify!($variant)] $variant, )* }

        impl From<$of> for $name {
            fn from(value: $of) -> Self {
                match value { $( <$of>::$variant => Self::$variant, )* }
            }
        }
        impl From<$name> for $of {
            fn from(value: $name) -> Self {
                match value { $( $name::$variant => Self::$variant, )* }
            }
        }
        impl ToView for $of {
            type View = $name;
            fn to_view(&self) -> $name {
                (*self).into()
            }
        }
    };
}
pub(crate) use names;

macro_rules! scalars {
    ($( $ty:ty => $view:ty: |$value:ident| $make:expr; )*) => {$(
        impl ToView for $ty {
            type View = $view;
            fn to_view(&self) -> $view {
                let $value = self;
                $make
            }
        }
    )*};
}
macro_rules! wrapped {
    ($( $ty:ty => $view:ident: |$value:ident| $make:expr; )*) => {
        scalars! { $( $ty => $view: |$value| $make; )* }
        $( view! { @from $view of $ty } )*
    };
}
wrapped! {
    Address => HexAddress: |v| HexAddress(*v);
    B256 => HexHash: |v| HexHash(*v);
    Amount => BigUint: |v| BigUint(v.get());
    u128 => BigUint: |v| BigUint(*v);
    Height => Uint: |v| Uint(v.get());
    Cycles => Uint: |v| Uint(v.get());
    Cells => Uint: |v| Uint(v.get());
    u64 => Uint: |v| Uint(*v);
    remuda_protocol::codec::Bytes => HexBytes: |v| HexBytes(v.0.clone());
    remuda_protocol::crypto::Signature => HexBytes: |v| HexBytes(v.bytes.to_vec());
    remuda_protocol::crypto::PublicKey => HexBytes: |v| HexBytes(v.bytes.to_vec());
}
scalars! {
    Slot => u32: |v| v.get();
    u8 => u32: |v| u32::from(*v);
    u16 => u16: |v| *v;
    u32 => u32: |v| *v;
    bool => bool: |v| *v;
    String => String: |v| v.clone();
}

impl<const N: usize> ToView for [u8; N] {
    type View = HexBytes;
    fn to_view(&self) -> HexBytes {
        HexBytes(self.to_vec())
    }
}
impl<T: ToView> ToView for Vec<T> {
    type View = Vec<T::View>;
    fn to_view(&self) -> Self::View {
        self.iter().map(ToView::to_view).collect()
    }
}
impl<T: ToView> ToView for Option<T> {
    type View = Option<T::View>;
    fn to_view(&self) -> Self::View {
        self.as_ref().map(ToView::to_view)
    }
}
