/** Common names of formats that are found in place of images and videos, with their media types. */
const words = {
  'an HTML page': 'text/html',
  'an XML document': 'application/xml',
  'JSON data': 'application/json',
  'a playlist': 'application/vnd.apple.mpegurl',
  'a calendar': 'text/calendar',
  'a contact card': 'text/vcard',
  'a subtitle file': 'text/vtt',
  'a PDF document': 'application/pdf',
  'a PostScript document': 'application/postscript application/eps',
  'an RTF document': 'application/rtf',
  'an InDesign document': 'application/x-indesign',
  'a Word document': `application/vnd.openxmlformats-officedocument.wordprocessingml.document
      application/vnd.openxmlformats-officedocument.wordprocessingml.template
      application/vnd.ms-word.document.macroenabled.12 application/vnd.ms-word.template.macroenabled.12`,
  'an Excel spreadsheet': `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
      application/vnd.openxmlformats-officedocument.spreadsheetml.template
      application/vnd.ms-excel.sheet.macroenabled.12 application/vnd.ms-excel.template.macroenabled.12`,
  'a PowerPoint presentation': `application/vnd.openxmlformats-officedocument.presentationml.presentation
      application/vnd.openxmlformats-officedocument.presentationml.slideshow
      application/vnd.openxmlformats-officedocument.presentationml.template
      application/vnd.ms-powerpoint.presentation.macroenabled.12
      application/vnd.ms-powerpoint.slideshow.macroenabled.12
      application/vnd.ms-powerpoint.template.macroenabled.12`,
  'an OpenDocument text': `application/vnd.oasis.opendocument.text
      application/vnd.oasis.opendocument.text-template`,
  'an OpenDocument spreadsheet': `application/vnd.oasis.opendocument.spreadsheet
      application/vnd.oasis.opendocument.spreadsheet-template`,
  'an OpenDocument presentation': `application/vnd.oasis.opendocument.presentation
      application/vnd.oasis.opendocument.presentation-template`,
  'an OpenDocument drawing': `application/vnd.oasis.opendocument.graphics
      application/vnd.oasis.opendocument.graphics-template`,
  'a Visio drawing': 'application/vnd.visio',
  'an e-book': 'application/epub+zip application/x-mobipocket-ebook',
  'a Microsoft Office document': 'application/x-cfb',
  'an Outlook mailbox': 'application/vnd.ms-outlook',
  'a help file': 'application/vnd.ms-htmlhelp',
  'a ZIP archive': 'application/zip',
  'a gzip archive': 'application/gzip',
  'a TAR archive': 'application/x-tar',
  'a 7-Zip archive': 'application/x-7z-compressed',
  'a RAR archive': 'application/x-rar-compressed',
  'a compressed archive': `application/x-bzip2 application/x-xz application/zstd application/x-lzip
      application/x-lz4 application/x-compress application/x-lzh-compressed application/x-arj
      application/x-ace-compressed application/vnd.ms-cab-compressed application/x-cpio application/x-asar
      application/x-unix-archive`,
  'a disk image': 'application/x-apple-diskimage',
  'a Debian package': 'application/x-deb',
  'an RPM package': 'application/x-rpm',
  'an Android app': 'application/vnd.android.package-archive',
  'a Java archive': 'application/java-archive',
  'a Java class': 'application/java-vm',
  'a browser extension': 'application/x-google-chrome-extension application/x-xpinstall',
  'a Linux program': 'application/x-elf',
  'a macOS program': 'application/x-mach-binary',
  'a Windows program': 'application/x-msdownload',
  'a WebAssembly program': 'application/wasm',
  'a Flash program': 'application/x-shockwave-flash',
  'a game': 'application/x-nintendo-nes-rom',
  'a Windows shortcut': 'application/x.ms.shortcut',
  'a macOS alias': 'application/x.apple.alias',
  'Windows registry data': 'application/x-ms-regedit application/x-ft-windows-registry-hive',
  'a SQLite database': 'application/x-sqlite3',
  'a data file': `application/vnd.apache.arrow.file application/vnd.apache.parquet application/avro
      application/x-spss-sav application/x-jmp-data application/x-mie`,
  'a network capture': 'application/vnd.tcpdump.pcap',
  'encrypted data': 'application/pgp-encrypted',
  'a colour profile': 'application/vnd.iccprofile',
  'a map layer': 'application/x-esri-shape',
  'a RealMedia file': 'application/vnd.rn-realmedia',
  'DICOM data': 'application/dicom',
  'a 3D model': `model/stl model/3mf model/gltf-binary application/x-blender application/vnd.sketchup.skp
      application/x.autodesk.fbx application/vnd.google.draco`,
  'a font': 'font/woff font/woff2 font/ttf font/otf font/collection application/vnd.ms-fontobject',
  'MP3 audio': 'audio/mpeg',
  'AAC audio': 'audio/aac',
  'WAV audio': 'audio/wav',
  'FLAC audio': 'audio/flac',
  'AIFF audio': 'audio/aiff',
  'Ogg audio': 'audio/ogg application/ogg',
  'MPEG-4 audio': 'audio/mp4 audio/x-m4a',
  'Windows Media audio': 'audio/x-ms-asf',
  'AC-3 audio': 'audio/vnd.dolby.dd-raw',
  'MIDI music': 'audio/midi',
  'tracker music': 'audio/x-it audio/x-s3m audio/x-xm',
};

const containerWords = new Map([
  ['video/3gpp', 'a 3GP file'],
  ['video/3gpp2', 'a 3G2 file'],
  ['video/mp2t', 'an MPEG transport stream'],
  ['video/mp4', 'an MP4 file'],
  ['video/mpeg', 'an MPEG program stream'],
  ['video/mxf', 'an MXF file'],
  ['video/ogg', 'an Ogg file'],
  ['video/quicktime', 'a QuickTime file'],
  ['video/vnd.rn-realvideo', 'a RealMedia file'],
  ['video/webm', 'a WebM file'],
  ['video/x-flv', 'a Flash video file'],
  ['video/x-m4v', 'an MP4 file'],
  ['video/x-matroska', 'a Matroska file'],
  ['video/x-ms-asf', 'a Windows Media file'],
  ['video/x-ms-wtv', 'a Windows TV recording'],
  ['video/x-msvideo', 'an AVI file'],
]);

/** The common name of a format that is neither an image nor a video; `name` is the file's name. */
export function wordsFor(type: string, name: string): string {
  // Old Office documents, installers, mails and folder thumbnails share one format.
  if (type === 'application/x-cfb') return describeCompoundFile(name);
  if (!/^[a-z]+\/\S+$/.test(type)) return type;
  const [phrase] = Object.entries(words).find(([, types]) => types.split(/\s+/).includes(type)) ?? [];
  return phrase ?? (type.startsWith('audio/') ? 'an audio file' : `a file of type ${type}`);
}

/** The common name of a video container. */
export function containerWordsFor(type: string): string {
  return containerWords.get(type) ?? `a file of type ${type}`;
}

function describeCompoundFile(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  if (/^(?:eh)?thumbs.*\.db$/.test(file)) return 'a Windows thumbnail database';
  if (file.endsWith('.msi')) return 'a Windows installer';
  return file.endsWith('.msg') ? 'an e-mail' : 'a Microsoft Office document';
}
