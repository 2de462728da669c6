//! Protocol buffers on the wire, as far as a small edit needs them.
//!
//! Fields that are not edited keep their bytes and their order, whether anything here knows them
//! or not: an image of a later criu has fields that this program has never heard of.

/// A field: its number, and all of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    number: u64,
    kind: u8,
    /// Key, length and value.
    bytes: Vec<u8>,
    /// Where the value begins in them.
    value_at: usize,
}

/// A message: its fields in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireMessage(Vec<Field>);

const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const DELIMITED: u8 = 2;
const FIXED_32: u8 = 5;

/// Bytes of the length before a message in an image.
const LENGTH_BYTES: usize = 4;

impl WireMessage {
    /// Reads the next message of an image, after its length; and what is behind it.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn next(image: &[u8]) -> Result<(WireMessage, &[u8]), String> {
        let (length, behind) = image.split_at_checked(LENGTH_BYTES).ok_or_else(cut_short)?;
        let length = u32::from_le_bytes(length.try_into().map_err(|_| cut_short())?);
        let split = behind.split_at_checked(length as usize);
        let (message, behind) = split.ok_or_else(cut_short)?;
        Ok((WireMessage::read(message)?, behind))
    }

    /// Adds the message with its length to an image.
    ///
    /// # Errors
    ///
    /// If it is longer than any length says.
    pub fn append_to(&self, image: &mut Vec<u8>) -> Result<(), String> {
        let message = self.bytes();
        let length = u32::try_from(message.len()).map_err(|_| "it is too long".to_owned())?;
        image.extend(length.to_le_bytes());
        image.extend(message);
        Ok(())
    }

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// What is wrong with it: it is cut short, or has a kind of field that is not known.
    pub fn read(bytes: &[u8]) -> Result<WireMessage, String> {
        let (mut fields, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let start = at;
            let key = read_varint(bytes, &mut at)?;
            let kind = (key & 7) as u8;
            let mut value_at = at;
            match kind {
                VARINT => drop(read_varint(bytes, &mut at)?),
                FIXED_64 => at += 8,
                FIXED_32 => at += 4,
                DELIMITED => {
                    let length = read_varint(bytes, &mut at)?;
                    value_at = at;
                    let length = usize::try_from(length).map_err(|_| cut_short())?;
                    at = at.checked_add(length).ok_or_else(cut_short)?;
                }
                other => return Err(format!("a field of the unknown kind {other}")),
            }
            let bytes = bytes.get(start..at).ok_or_else(cut_short)?.to_vec();
            fields.push(Field {
                number: key >> 3,
                kind,
                bytes,
                value_at: value_at - start,
            });
        }
        Ok(WireMessage(fields))
    }

    /// The message's bytes.
    fn bytes(&self) -> Vec<u8> {
        let fields = self.0.iter();
        fields
            .flat_map(|field| field.bytes.iter().copied())
            .collect()
    }

    /// The number in a field; none if there is no such field, or it holds none.
    pub fn number(&self, field: u64) -> Option<u64> {
        let found = self.last(field, VARINT)?;
        read_varint(&found.bytes, &mut found.value_at.clone()).ok()
    }

    /// The message in a field; none if there is no such field.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn message(&self, field: u64) -> Result<Option<WireMessage>, String> {
        match self.last(field, DELIMITED) {
            Some(found) => WireMessage::read(&found.bytes[found.value_at..]).map(Some),
            None => Ok(None),
        }
    }

    /// Replaces the number in a field that is there.
    pub fn set_number(&mut self, field: u64, number: u64) {
        if let Some(found) = self.last_mut(field, VARINT) {
            found.bytes.truncate(found.value_at);
            write_varint(&mut found.bytes, number);
        }
    }

    /// Replaces the message in a field that is there.
    pub fn set_message(&mut self, field: u64, message: &WireMessage) {
        if let Some(found) = self.last_mut(field, DELIMITED) {
            let value = message.bytes();
            found.bytes.clear();
            write_varint(&mut found.bytes, field << 3 | u64::from(DELIMITED));
            write_varint(&mut found.bytes, value.len() as u64);
            found.value_at = found.bytes.len();
            found.bytes.extend(value);
        }
    }

    /// Of several fields of a number the last counts.
    fn last(&self, number: u64, kind: u8) -> Option<&Field> {
        let mut fields = self.0.iter().rev();
        fields.find(|field| field.number == number && field.kind == kind)
    }

    fn last_mut(&mut self, number: u64, kind: u8) -> Option<&mut Field> {
        let mut fields = self.0.iter_mut().rev();
        fields.find(|field| field.number == number && field.kind == kind)
    }
}

pub fn cut_short() -> String {
    "it is cut short".to_owned()
}

fn read_varint(bytes: &[u8], at: &mut usize) -> Result<u64, String> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or_else(cut_short)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits".to_owned())
}

fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A field with a number.
    pub fn number_field(number: u64, value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, number << 3);
        write_varint(&mut bytes, value);
        bytes
    }

    /// A field with bytes.
    pub fn bytes_field(number: u64, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, number << 3 | 2);
        write_varint(&mut bytes, value.len() as u64);
        bytes.extend(value);
        bytes
    }

    #[test]
    fn what_is_not_edited_keeps_its_bytes() {
        // A number written longer than need be, both fixed sizes, and one twice.
        let odd = [
            0x08, 0x81, 0x00, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1d, 1, 2, 3, 4,
        ];
        let mut bytes = odd.to_vec();
        bytes.extend(number_field(9, 3));
        bytes.extend(number_field(9, u64::MAX));
        let mut message = WireMessage::read(&bytes).unwrap();
        assert_eq!(message.bytes(), bytes);
        assert_eq!(
            (message.number(1), message.number(9)),
            (Some(1), Some(u64::MAX))
        );
        message.set_number(9, 5);
        let mut expected = odd.to_vec();
        expected.extend(number_field(9, 3));
        expected.extend(number_field(9, 5));
        assert_eq!(message.bytes(), expected);
    }

    #[test]
    fn inner_messages_are_replaced_with_their_length() {
        let mut bytes = bytes_field(2, &number_field(11, 1));
        bytes.extend(bytes_field(3, b"other"));
        let mut outer = WireMessage::read(&bytes).unwrap();
        let mut inner = outer.message(2).unwrap().unwrap();
        inner.set_number(11, 1 << 40);
        outer.set_message(2, &inner);
        let mut expected = bytes_field(2, &number_field(11, 1 << 40));
        expected.extend(bytes_field(3, b"other"));
        assert_eq!(outer.bytes(), expected);
        assert_eq!(outer.message(7), Ok(None));
    }

    #[test]
    fn what_is_cut_short_or_unknown_is_an_error() {
        for bytes in [
            &[0x08][..],
            &[0x80],
            &[0x09, 1],
            &[0x12, 5, 1],
            &[0x0b],
            &[
                0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
            &[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
        ] {
            assert!(WireMessage::read(bytes).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_loses_nothing(bytes: Vec<u8>) {
            if let Ok(message) = WireMessage::read(&bytes) {
                prop_assert_eq!(message.bytes(), bytes);
            }
        }
    }
}
