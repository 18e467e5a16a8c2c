//! How a JSON text is laid out, and laying one out.

use super::scan::tokens;

/// How many tokens are looked at to find the layout of a text.
const SAMPLE_TOKENS: usize = 4_096;

/// The layout of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// One level of indentation; `None` where everything is on one line.
    pub(crate) indent: Option<String>,
    /// The line end.
    pub(crate) newline: &'static str,
    /// The colon with the space around it.
    pub(crate) colon: String,
    /// The comma between two items on one line.
    pub(crate) comma: String,
    /// What follows the value.
    pub(crate) tail: String,
    /// Other characters than ASCII are escaped, as Python's `json` does by default.
    pub(crate) ascii: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            indent: Some("  ".to_owned()),
            newline: "\n",
            colon: ": ".to_owned(),
            comma: ", ".to_owned(),
            tail: "\n".to_owned(),
            ascii: false,
        }
    }
}

impl Style {
    /// Everything on one line, without a space.
    pub(crate) fn compact() -> Self {
        Self {
            indent: None,
            colon: ":".to_owned(),
            comma: ",".to_owned(),
            tail: String::new(),
            ..Self::default()
        }
    }

    /// The layout of `text`, which is JSON, as the first line break, colon and comma near its start show it.
    pub(crate) fn of(text: &str) -> Self {
        let (mut indent, mut colon, mut comma, mut newline) = (None, None, None, None);
        let (mut depth, mut end, mut last) = (0_usize, 0, 0_u8);
        let mut colon_start = None;
        for token in tokens(text).take(SAMPLE_TOKENS) {
            let gap = text.get(end..token.start).unwrap_or_default();
            if let Some(start) = colon_start.take() {
                colon = text.get(start..token.start).filter(|found| !found.contains('\n'));
            }
            if newline.is_none() && gap.contains('\n') && last != 0 {
                newline = Some(if gap.contains("\r\n") { "\r\n" } else { "\n" });
            }
            match last {
                b'{' | b'[' if indent.is_none() => {
                    indent = gap.rsplit_once('\n').and_then(|(_, margin)| unit(margin, depth));
                }
                b',' if comma.is_none() && !gap.contains('\n') => comma = Some(format!(",{gap}")),
                _ => {}
            }
            match token.kind() {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b':' if colon.is_none() => colon_start = Some(end),
                _ => {}
            }
            (end, last) = (token.end(), token.kind());
        }
        let loose = indent.is_some();
        let or = |found: Option<String>, loose_default: &str, tight: &str| {
            found.unwrap_or_else(|| if loose { loose_default } else { tight }.to_owned())
        };
        Self {
            newline: newline.unwrap_or("\n"),
            colon: or(colon.map(str::to_owned), ": ", ":"),
            comma: or(comma, ", ", ","),
            tail: text.get(text.trim_ascii_end().len()..).unwrap_or_default().to_owned(),
            ascii: text.is_ascii() && text.contains("\\u"),
            indent,
        }
    }

    /// A string literal in this style.
    pub(crate) fn literal(&self, compact: String) -> String {
        if !self.ascii || compact.is_ascii() {
            return compact;
        }
        let mut escaped = String::with_capacity(compact.len() * 2);
        for char in compact.chars() {
            if char.is_ascii() {
                escaped.push(char);
            } else {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        escaped
    }

    /// A line break and the margin of a depth; nothing in a style of one line.
    pub(crate) fn line_break(&self, depth: usize, out: &mut impl FnMut(&str)) {
        if let Some(indent) = &self.indent {
            out(self.newline);
            (0..depth).for_each(|_| out(indent));
        }
    }
}

/// One level of a margin that is `depth` levels deep.
fn unit(margin: &str, depth: usize) -> Option<String> {
    let length = margin.len().checked_div(depth)?;
    margin.get(..length).map(str::to_owned)
}

/// Gives out the JSON value `text` in a style, piece by piece; every literal stays as it is. `depth` is how deep the
/// value lies itself. The tail is not given out.
pub(crate) fn lay_out(text: &str, style: &Style, depth: usize, out: &mut impl FnMut(&str)) {
    let mut depth = depth;
    let mut just_opened = false;
    for token in tokens(text) {
        let kind = token.kind();
        let closes = matches!(kind, b'}' | b']');
        if closes {
            depth = depth.saturating_sub(1);
        }
        if just_opened != closes && (just_opened || closes) {
            style.line_break(depth, out);
        }
        just_opened = matches!(kind, b'{' | b'[');
        match kind {
            b',' if style.indent.is_some() => {
                out(",");
                style.line_break(depth, out);
            }
            b',' => out(&style.comma),
            b':' => out(&style.colon),
            _ => out(token.raw),
        }
        if just_opened {
            depth += 1;
        }
    }
}

/// Whether `text` already looks the way `style`, which is its own, lays it out.
pub(crate) fn is_regular(text: &str, style: &Style) -> bool {
    let mut rest = Some(text);
    lay_out(text, style, 0, &mut |piece| rest = rest.and_then(|rest| rest.strip_prefix(piece)));
    rest == Some(style.tail.as_str())
}
