/** The source of a row's media type. */
export type TypeSource =
  /** IANA's registry of media types. */
  | 'IANA'
  /** The registry has the container under application/, but the service accepts only image/* and video/*. */
  | 'IANA, as video'
  /** The shared MIME database of freedesktop.org. */
  | 'shared-mime-info'
  /** The tools of that format, if neither of the above has a name for it. */
  | 'exiftool'
  | 'file'
  | 'GPAC'
  /** mime-types' type of the same format under another extension, or of its container. */
  | 'mime-types'
  /** mime-types has the type of a rare variant of the format. */
  | 'correction';

/** Extensions that mime-types lacks, or assigns to another format, with their types. */
export const extensionRows: readonly (readonly [extension: string, type: string, source: TypeSource])[] = [
  // Camera raw.
  ['3fr', 'image/x-hasselblad-3fr', 'shared-mime-info'],
  ['arw', 'image/x-sony-arw', 'shared-mime-info'],
  ['cr2', 'image/x-canon-cr2', 'shared-mime-info'],
  ['cr3', 'image/x-canon-cr3', 'shared-mime-info'],
  ['crw', 'image/x-canon-crw', 'shared-mime-info'],
  ['dcr', 'image/x-kodak-dcr', 'shared-mime-info'],
  ['erf', 'image/x-epson-erf', 'shared-mime-info'],
  ['fff', 'image/x-hasselblad-fff', 'shared-mime-info'],
  ['gpr', 'image/x-gopro-gpr', 'exiftool'],
  ['iiq', 'image/x-phaseone-iiq', 'shared-mime-info'],
  ['k25', 'image/x-kodak-k25', 'shared-mime-info'],
  ['kdc', 'image/x-kodak-kdc', 'shared-mime-info'],
  ['mdc', 'image/x-minolta-mdc', 'shared-mime-info'],
  ['mef', 'image/x-mamiya-mef', 'shared-mime-info'],
  ['mos', 'image/x-leaf-mos', 'shared-mime-info'],
  ['mrw', 'image/x-minolta-mrw', 'shared-mime-info'],
  ['nef', 'image/x-nikon-nef', 'shared-mime-info'],
  ['nrw', 'image/x-nikon-nrw', 'shared-mime-info'],
  ['orf', 'image/x-olympus-orf', 'shared-mime-info'],
  ['pef', 'image/x-pentax-pef', 'shared-mime-info'],
  ['raf', 'image/x-fuji-raf', 'shared-mime-info'],
  ['raw', 'image/x-panasonic-rw', 'shared-mime-info'],
  ['rw2', 'image/x-panasonic-rw2', 'shared-mime-info'],
  ['rwl', 'image/x-panasonic-rw2', 'shared-mime-info'],
  ['rwz', 'image/x-rawzor', 'exiftool'],
  ['sr2', 'image/x-sony-sr2', 'shared-mime-info'],
  ['srf', 'image/x-sony-srf', 'shared-mime-info'],
  ['srw', 'image/x-samsung-srw', 'shared-mime-info'],
  ['sti', 'image/x-sinar-sti', 'shared-mime-info'],
  ['x3f', 'image/x-sigma-x3f', 'shared-mime-info'],
  // Cameras without their own type: shared-mime-info's type of any raw picture.
  ['ari', 'image/x-dcraw', 'shared-mime-info'],
  ['bay', 'image/x-dcraw', 'shared-mime-info'],
  ['cap', 'image/x-dcraw', 'shared-mime-info'],
  ['dcs', 'image/x-dcraw', 'shared-mime-info'],
  ['drf', 'image/x-dcraw', 'shared-mime-info'],
  ['eip', 'image/x-dcraw', 'shared-mime-info'],
  ['ptx', 'image/x-dcraw', 'shared-mime-info'],
  ['pxn', 'image/x-dcraw', 'shared-mime-info'],
  // Pictures.
  ['astc', 'image/astc', 'shared-mime-info'],
  ['avifs', 'image/avif', 'shared-mime-info'],
  ['bpg', 'image/bpg', 'file'],
  ['cur', 'image/x-cursor', 'exiftool'],
  ['dcx', 'image/x-dcx', 'file'],
  ['ff', 'image/x-farbfeld', 'shared-mime-info'],
  ['flif', 'image/flif', 'exiftool'],
  ['hdp', 'image/jxr', 'shared-mime-info'],
  ['hdr', 'image/vnd.radiance', 'IANA'],
  ['hif', 'image/heif', 'shared-mime-info'],
  ['icb', 'image/x-tga', 'shared-mime-info'],
  ['icns', 'image/x-icns', 'shared-mime-info'],
  ['iff', 'image/x-ilbm', 'shared-mime-info'],
  ['ilbm', 'image/x-ilbm', 'shared-mime-info'],
  ['j2c', 'image/x-jp2-codestream', 'shared-mime-info'],
  ['j2k', 'image/x-jp2-codestream', 'shared-mime-info'],
  ['jpc', 'image/x-jp2-codestream', 'shared-mime-info'],
  ['lbm', 'image/x-ilbm', 'shared-mime-info'],
  ['miff', 'image/x-miff', 'file'],
  ['mpo', 'image/mpo', 'exiftool'],
  ['pam', 'image/x-portable-arbitrarymap', 'file'],
  ['pcd', 'image/x-photo-cd', 'shared-mime-info'],
  ['pfm', 'image/x-pfm', 'shared-mime-info'],
  ['phm', 'image/x-phm', 'shared-mime-info'],
  ['pict', 'image/x-pict', 'mime-types'],
  ['pict1', 'image/x-pict', 'mime-types'],
  ['pict2', 'image/x-pict', 'mime-types'],
  ['qoi', 'image/qoi', 'shared-mime-info'],
  ['rgbe', 'image/vnd.radiance', 'IANA'],
  ['sun', 'image/x-sun-raster', 'shared-mime-info'],
  ['tpic', 'image/x-tga', 'shared-mime-info'],
  ['xcf', 'image/x-xcf', 'shared-mime-info'],
  ['xyze', 'image/vnd.radiance', 'IANA'],
  // Videos.
  ['264', 'video/h264', 'IANA'],
  ['265', 'video/h265', 'IANA'],
  ['266', 'video/h266', 'IANA'],
  ['avc', 'video/h264', 'IANA'],
  ['bik', 'video/vnd.radgamettools.bink', 'IANA'],
  ['bk2', 'video/vnd.radgamettools.bink', 'IANA'],
  ['braw', 'video/quicktime', 'mime-types'],
  ['crm', 'video/x-canon-crm', 'exiftool'],
  ['divx', 'video/x-msvideo', 'mime-types'],
  ['dv', 'video/dv', 'IANA'],
  ['flc', 'video/x-fli', 'mime-types'],
  ['h265', 'video/h265', 'IANA'],
  ['h266', 'video/h266', 'IANA'],
  ['hevc', 'video/h265', 'IANA'],
  ['ivf', 'video/x-ivf', 'file'],
  ['lrv', 'video/mp4', 'shared-mime-info'],
  ['mjpeg', 'video/x-mjpeg', 'shared-mime-info'],
  ['mjpg', 'video/x-mjpeg', 'shared-mime-info'],
  ['mxf', 'video/mxf', 'IANA, as video'],
  ['nsv', 'video/x-nsv', 'shared-mime-info'],
  ['obu', 'video/av1', 'IANA'],
  ['ogm', 'video/ogg', 'mime-types'],
  ['qtvr', 'video/quicktime', 'mime-types'],
  ['r3d', 'video/x-red-r3d', 'exiftool'],
  ['rm', 'video/vnd.rn-realvideo', 'shared-mime-info'],
  ['rmvb', 'video/vnd.rn-realvideo', 'shared-mime-info'],
  ['rv', 'video/vnd.rn-realvideo', 'shared-mime-info'],
  ['smk', 'video/vnd.radgamettools.smacker', 'IANA'],
  ['vvc', 'video/h266', 'IANA'],
  ['wtv', 'video/x-ms-wtv', 'exiftool'],
  ['y4m', 'video/x-yuv4mpeg', 'GPAC'],
  // mime-types says image/aces and image/pjpeg.
  ['exr', 'image/x-exr', 'correction'],
  ['jfif', 'image/jpeg', 'correction'],
];

/**
 * Extensions that other kinds of files have too, often more commonly: transport streams and TypeScript, raw pictures and
 * raw data, network captures, font metrics, subtitles, schemas. For these the bytes must confirm the type.
 */
export const ambiguousExtensions = new Set([
  'cap',
  'dcr',
  'dcx',
  'fbs',
  'hdr',
  'iff',
  'm2ts',
  'mts',
  'mxf',
  'pcd',
  'pfm',
  'ptx',
  'raw',
  'rm',
  'rmvb',
  'sid',
  'sub',
  'tap',
  'ts',
]);

/** Extensions of texts that mime-types does not know, above all of templates and sources. */
export const textExtensions: ReadonlySet<string> = new Set(
  `adoc asciidoc astro cfg cshtml diff eex ejs erb eta fs go gohtml haml hbs heex hpp hs j2 jinja jinja2 kt kts leex less
  liquid lua m4 marko mjml mustache njk nunjucks org patch phtml pl ps1 pug py r razor rb rst sass scala snap svelte swift
  tmpl tsx twig vbhtml vim vue`.split(/\s+/),
);

/** Further types of an extension; the bytes decide. */
export const furtherTypes = new Map<string, readonly string[]>([
  ['btf', ['image/tiff']],
  ['m4v', ['video/mp4v-es']],
  ['pic', ['image/vnd.radiance']],
  ['raw', ['image/x-dcraw']],
]);
