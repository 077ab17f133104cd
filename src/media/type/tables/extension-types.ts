import {byWord} from '../../../lib/object.ts';

/** Types and extensions that mime-types lacks, or assigns to another format, and the source of each type. */
const extensionsOfTypes: readonly (readonly [type: string, extensions: string])[] = [
  // IANA's registry of media types.
  ['image/vnd.radiance', 'hdr rgbe xyze'],
  ['video/av1', 'obu'],
  ['video/dv', 'dv'],
  ['video/h264', '264 avc'],
  ['video/h265', '265 h265 hevc'],
  ['video/h266', '266 h266 vvc'],
  ['video/vnd.radgamettools.bink', 'bik bk2'],
  ['video/vnd.radgamettools.smacker', 'smk'],
  // The registry has the container under application/, but the service accepts only image/* and video/*.
  ['video/mxf', 'mxf'],
  // The shared MIME database of freedesktop.org; image/x-dcraw is any camera's raw picture without its own type.
  ['image/astc', 'astc'],
  ['image/avif', 'avifs'],
  ['image/heif', 'hif'],
  ['image/jxr', 'hdp'],
  ['image/qoi', 'qoi'],
  ['image/x-dcraw', 'ari bay cap dcs drf ptx pxn'],
  ['image/x-farbfeld', 'ff'],
  ['image/x-icns', 'icns'],
  ['image/x-ilbm', 'ilbm lbm'],
  ['image/x-jp2-codestream', 'j2c j2k jpc'],
  ['image/x-panasonic-rw', 'raw'],
  ['image/x-panasonic-rw2', 'rw2 rwl'],
  ['image/x-pfm', 'pfm'],
  ['image/x-phm', 'phm'],
  ['image/x-sun-raster', 'sun'],
  ['image/x-tga', 'icb tpic'],
  ['image/x-xcf', 'xcf'],
  ['video/mp4', 'lrv'],
  ['video/vnd.rn-realvideo', 'rm rmvb rv'],
  ['video/x-mjpeg', 'mjpeg mjpg'],
  ['video/x-nsv', 'nsv'],
  // exiftool, if neither of the above has a name for it; then file, and GPAC.
  ['image/flif', 'flif'],
  ['image/mpo', 'mpo'],
  ['image/x-cursor', 'cur'],
  ['image/x-rawzor', 'rwz'],
  ['video/x-canon-crm', 'crm'],
  ['video/x-ms-wtv', 'wtv'],
  ['video/x-red-r3d', 'r3d'],
  ['image/bpg', 'bpg'],
  ['image/x-dcx', 'dcx'],
  ['image/x-miff', 'miff'],
  ['image/x-portable-arbitrarymap', 'pam'],
  ['video/x-ivf', 'ivf'],
  ['video/x-yuv4mpeg', 'y4m'],
  // mime-types' type of the same format under another extension, or of its container.
  ['image/x-pict', 'pict pict1 pict2'],
  ['video/ogg', 'ogm'],
  ['video/quicktime', 'braw qtvr'],
  ['video/x-fli', 'flc'],
  ['video/x-msvideo', 'divx'],
  ['image/bmp', 'rle'],
  ['image/vnd.adobe.photoshop', 'psb'],
  // Formats for which mime-types has the type of a rare variant, image/aces and image/pjpeg, or none.
  ['image/jpeg', 'jfif thm'],
  ['image/x-exr', 'exr'],
];

/** Raw pictures whose types (`image/x-...`) end in their only extensions, from the same sources. */
const rawPictures =
  `canon-cr2 canon-cr3 canon-crw epson-erf fuji-raf gopro-gpr hasselblad-3fr hasselblad-fff kodak-dcr kodak-k25
  kodak-kdc leaf-mos mamiya-mef minolta-mdc minolta-mrw nikon-nef nikon-nrw olympus-orf pentax-pef phaseone-iiq
  samsung-srw sigma-x3f sinar-sti sony-arw sony-sr2 sony-srf`.split(/\s+/);

export const extensionTypes: ReadonlyMap<string, string> = byWord([
  ...extensionsOfTypes,
  ...rawPictures.map(name => [`image/x-${name}`, name.replace(/^.*-/, '')] as const),
]);

/** Extensions that other files have too, as TypeScript (.ts) or network captures: the bytes must confirm the type. */
export const ambiguousExtensions: ReadonlySet<string> = new Set(
  'cap dcr dcx fbs hdr m2ts mts mxf pfm psb ptx raw rle rm rmvb sid sub tap thm ts'.split(' '),
);

/** Extensions of texts that mime-types does not know, above all of templates and sources. */
export const textExtensions: ReadonlySet<string> = new Set(
  `adoc asciidoc astro cfg cshtml diff eex ejs erb eta fs go gohtml haml hbs heex hpp hs j2 jinja jinja2 kt kts leex less
  liquid lua m4 marko mjml mustache njk nunjucks org patch phtml pl ps1 pug py r razor rb rst sass scala snap svelte swift
  tmpl tsx twig vbhtml vim vue`.split(/\s+/),
);

/** Further types of an extension; the bytes decide. */
export const furtherTypes = new Map<string, readonly string[]>([
  ['btf', ['image/tiff']],
  ['pic', ['image/vnd.radiance']],
  ['raw', ['image/x-dcraw']],
]);
