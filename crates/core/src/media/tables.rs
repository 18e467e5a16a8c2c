//! The tables behind [`kind_of_mime`](super::kind_of_mime) and [`kind_of_path`](super::kind_of_path), sorted.

#[rustfmt::skip]
pub(super) const TEXT_APPLICATIONS: &[&str] = &[
    "ecmascript", "graphql", "javascript", "json", "ld+json", "sql", "toml", "typescript", "x-ecmascript",
    "x-httpd-php", "x-javascript", "x-ndjson", "x-perl", "x-python", "x-ruby", "x-sh", "x-shellscript",
    "x-tex", "x-toml", "x-typescript", "x-yaml", "xhtml+xml", "xml", "yaml",
];

#[rustfmt::skip]
pub(super) const OFFICE_APPLICATIONS: &[&str] = &[
    "msword", "rtf", "vnd.ms-excel", "vnd.ms-powerpoint", "vnd.ms-word", "vnd.oasis.opendocument",
    "vnd.openxmlformats-officedocument",
];

#[rustfmt::skip]
pub(super) const BINARY_APPLICATIONS: &[&str] = &[
    "gzip", "java-archive", "octet-stream", "vnd.rar", "wasm", "x-7z-compressed", "x-bzip2",
    "x-executable", "x-gzip", "x-mach-binary", "x-msdownload", "x-rar-compressed", "x-sharedlib",
    "x-sqlite3", "x-tar", "x-xz", "zip", "zstd",
];

#[rustfmt::skip]
pub(super) const OFFICE_SUFFIXES: &[&str] = &[
    "doc", "docm", "docx", "dot", "dotx", "odp", "ods", "odt", "pps", "ppsx", "ppt", "pptm", "pptx",
    "rtf", "xls", "xlsb", "xlsm", "xlsx", "xltx",
];

#[rustfmt::skip]
pub(super) const IMAGE_SUFFIXES: &[&str] = &[
    "avif", "bmp", "gif", "heic", "heif", "icns", "ico", "jfif", "jpeg", "jpg", "jxl", "png", "psd",
    "raw", "tga", "tif", "tiff", "webp",
];

#[rustfmt::skip]
pub(super) const AUDIO_SUFFIXES: &[&str] = &[
    "aac", "aif", "aiff", "flac", "m4a", "mid", "mp3", "oga", "ogg", "opus", "wav", "wma",
];

#[rustfmt::skip]
pub(super) const VIDEO_SUFFIXES: &[&str] = &[
    "avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm", "wmv",
];

#[rustfmt::skip]
pub(super) const BINARY_SUFFIXES: &[&str] = &[
    "7z", "a", "apk", "bin", "bz2", "cab", "class", "crate", "dat", "db", "deb", "dll", "dmg", "dylib",
    "elf", "eot", "exe", "gz", "iso", "jar", "lib", "lz4", "msi", "npy", "npz", "o", "obj", "onnx", "otf",
    "parquet", "pickle", "pkl", "pyc", "rar", "rlib", "rmeta", "rpm", "safetensors", "so", "sqlite",
    "sqlite3", "tar", "tgz", "ttf", "wasm", "whl", "woff", "woff2", "xz", "zip", "zst",
];

#[rustfmt::skip]
pub(super) const TEXT_SUFFIXES: &[&str] = &[
    "ada", "adb", "adoc", "ads", "asc", "asciidoc", "asm", "astro", "awk", "bash", "bat", "bib", "bzl",
    "c", "cbl", "cc", "cfg", "cjs", "cl", "clj", "cljc", "cljs", "cmake", "cmd", "cob", "coffee", "conf",
    "cpp", "cpy", "cr", "cs", "csh", "cshtml", "cson", "csproj", "css", "csv", "cts", "cu", "cuh", "cxx",
    "d", "dart", "diff", "dtd", "edn", "ejs", "el", "elm", "eml", "env", "erb", "erl", "ex", "exs", "f",
    "f03", "f08", "f90", "f95", "fish", "for", "frag", "fs", "fsi", "fsx", "ftl", "gemspec", "glsl", "go",
    "gql", "gradle", "graphql", "groovy", "h", "haml", "handlebars", "hbs", "hcl", "hh", "hjson", "hlsl",
    "hpp", "hrl", "hs", "htm", "html", "hxx", "idl", "ini", "inl", "ipp", "ipynb", "ispc", "jade", "java",
    "jinja", "jinja2", "jl", "js", "json", "json5", "jsonc", "jsonl", "jsp", "jsx", "kdl", "kt", "kts",
    "less", "lhs", "liquid", "lisp", "lock", "log", "lsp", "lua", "m", "m4", "make", "markdown", "mat",
    "md", "mdx", "metal", "mjs", "mk", "ml", "mli", "mm", "mod", "mts", "mustache", "nasm", "ndjson",
    "nim", "nims", "nix", "nu", "org", "pas", "patch", "php", "phtml", "pl", "plist", "pm", "po", "pod",
    "pot", "pp", "prisma", "pro", "prolog", "properties", "proto", "ps1", "psd1", "psm1", "pug", "purs",
    "py", "pyi", "pyx", "qml", "r", "rake", "rb", "re", "rej", "res", "rex", "rexx", "rkt", "rmd", "rs",
    "rst", "s", "sass", "sbt", "sc", "scala", "scheme", "scm", "scss", "sed", "sh", "smithy", "sml",
    "sol", "spec", "sql", "srt", "ss", "stl", "styl", "sum", "sv", "svelte", "svg", "svh", "swift", "tcl",
    "tex", "text", "textile", "tf", "tfvars", "thrift", "toml", "tpl", "ts", "tsv", "tsx", "twig", "txt",
    "v", "vb", "vbs", "vert", "vh", "vhd", "vhdl", "vim", "vtt", "vue", "wat", "wgsl", "wit", "wsdl",
    "xaml", "xhtml", "xml", "xsd", "xsl", "xslt", "yaml", "yml", "zig", "zsh",
];
