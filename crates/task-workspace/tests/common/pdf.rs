//! Small PDF files.
#![allow(dead_code, reason = "each test file uses a part of it")]

/// A PDF of these objects, numbered from 1; `trailer` is added to its trailer.
pub(crate) fn pdf_of(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let (mut bytes, mut offsets) = (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec(), Vec::new());
    for (number, object) in (1..).zip(objects) {
        offsets.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n").into_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    let size = objects.len() + 1;
    bytes.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").into_bytes());
    for offset in offsets {
        bytes.extend(format!("{offset:010} 00000 n \n").into_bytes());
    }
    let end = format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n");
    bytes.extend(end.into_bytes());
    bytes
}

fn stream(bytes: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} >>\nstream\n", bytes.len()).into_bytes();
    [head, bytes.to_vec(), b"\nendstream".to_vec()].concat()
}

/// A PDF with a page for each of these texts; their lines are ASCII without parentheses.
pub(crate) fn pdf_of_pages(pages: &[&str], trailer: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let page_number = |at: usize| 4 + 2 * at;
    let kids: Vec<_> = (0..pages.len()).map(|at| format!("{} 0 R", page_number(at))).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (at, page) in pages.iter().enumerate() {
        let shown: String = page.lines().map(|line| format!("({line}) Tj 0 -14 Td ")).collect();
        let content = page_number(at) + 1;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            )
            .into_bytes(),
        );
        objects.push(stream(format!("BT /F1 12 Tf 72 720 Td {shown}ET").as_bytes()));
    }
    objects.extend_from_slice(more);
    pdf_of(&objects, trailer)
}

/// A PDF whose text only a password opens.
pub(crate) fn encrypted_pdf() -> Vec<u8> {
    let key = "aa00112233445566778899aabbccddeeff00112233445566778899aabbccddee";
    let dictionary = format!("<< /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >>");
    pdf_of_pages(&["ciphertext"], "/Encrypt 6 0 R /ID [<00> <00>]", &[dictionary.into_bytes()])
}

/// What Office writes instead of a package where a password is set: a compound file that names the encrypted package.
pub(crate) fn encrypted_office() -> Vec<u8> {
    let mut bytes = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    bytes.resize(2_048, 0);
    bytes.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    bytes.resize(4_096, 0);
    bytes
}
