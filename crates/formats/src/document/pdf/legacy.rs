//! The predefined character maps of East Asian fonts (ISO 32000-1, 9.7.5.2, table 118): the codes are those of well-known
//! encodings, so that text needs no font.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS, UTF_16BE};

/// How the codes of a predefined map are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Legacy {
    Encoding(&'static Encoding),
    Utf8,
    Utf32,
    /// The rows and cells of JIS X 0208 in seven bits.
    Jis,
}

impl Legacy {
    /// The map of a name such as `GBK-EUC-H`; `None` for others, `Identity-H` among them.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let map = name.strip_suffix("-H").or_else(|| name.strip_suffix("-V")).unwrap_or(name);
        Some(match map {
            "GB-EUC" | "GBpc-EUC" | "GBK-EUC" | "GBKp-EUC" | "GBK2K" => Self::Encoding(GB18030),
            "B5pc" | "HKscs-B5" | "ETen-B5" | "ETenms-B5" => Self::Encoding(BIG5),
            "83pv-RKSJ" | "90ms-RKSJ" | "90msp-RKSJ" | "90pv-RKSJ" | "Add-RKSJ" | "Ext-RKSJ" => {
                Self::Encoding(SHIFT_JIS)
            }
            "EUC" => Self::Encoding(EUC_JP),
            "KSC-EUC" | "KSCms-UHC" | "KSCms-UHC-HW" | "KSCpc-EUC" => Self::Encoding(EUC_KR),
            "H" | "V" => Self::Jis,
            map if map.starts_with("Uni") => match () {
                () if map.contains("UCS2") || map.contains("UTF16") => Self::Encoding(UTF_16BE),
                () if map.contains("UTF8") => Self::Utf8,
                () if map.contains("UTF32") => Self::Utf32,
                () => return None,
            },
            _ => return None,
        })
    }

    /// Appends the text; gives how many chars there are without a meaning.
    pub(super) fn push(self, bytes: &[u8], text: &mut String) -> u64 {
        let decoded = match self {
            Self::Encoding(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Self::Utf8 => String::from_utf8_lossy(bytes),
            Self::Utf32 => bytes
                .chunks(4)
                .map(|unit| {
                    let code = unit.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                })
                .collect::<String>()
                .into(),
            Self::Jis => {
                let eight: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
                EUC_JP.decode_without_bom_handling(&eight).0.into_owned().into()
            }
        };
        text.push_str(&decoded);
        decoded.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Legacy;

    #[test]
    fn predefined_maps_are_well_known_encodings() {
        for (name, bytes, text) in [
            ("GBK-EUC-H", &b"\xbf\xe2\xb4\xe6"[..], "库存"),
            ("UniGB-UTF16-H", b"\x5e\x93\x5b\x58", "库存"),
            ("90ms-RKSJ-V", b"\x8d\xdd\x8c\xc9", "在庫"),
            ("H", b"\x3a\x5f\x38\x4b", "在庫"),
            ("ETen-B5-H", b"\xae\x77\xa6\x73", "庫存"),
            ("KSCms-UHC-H", b"\xc0\xe7\xb0\xed", "재고"),
            ("UniJIS-UTF32-H", b"\0\0\x57\x28", "在"),
        ] {
            let mut shown = String::new();
            assert_eq!(Legacy::of_name(name).map(|map| map.push(bytes, &mut shown)), Some(0), "{name}");
            assert_eq!(shown, text, "{name}");
        }
        assert!(Legacy::of_name("Identity-H").is_none());
    }
}
