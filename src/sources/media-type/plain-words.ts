/** Common names of formats that are often found in place of images and videos, or hold no video; the first pattern that fits the media type counts. */
const words: readonly (readonly [type: RegExp, words: string])[] = [
  [/^text\/html$/, 'an HTML page'],
  [/^application\/xml$/, 'an XML document'],
  [/^application\/json$/, 'JSON data'],
  [/mpegurl$/, 'a playlist'],
  [/x-elf$|mach-binary$|msdownload$/, 'a program'],
  [/\/pdf$/, 'a PDF document'],
  [/\/(?:postscript|eps)$/, 'a PostScript document'],
  // Old Office documents, installers, mails and folder thumbnails share one format.
  [/x-cfb$/, 'a compound file such as an old Office document'],
  [/\/zip$/, 'a ZIP archive'],
  [/\/gzip$/, 'a gzip archive'],
  [/x-tar$/, 'a TAR archive'],
  [/7z-compressed$/, 'a 7-Zip archive'],
  [/rar-compressed$/, 'a RAR archive'],
  [/-compressed$|x-(?:bzip2|xz|lzip|lz4|cpio|asar|unix-archive)$|\/zstd$/, 'a compressed archive'],
  [/^video\/3gpp$/, 'a 3GP file'],
  [/^video\/(?:mp4|x-m4v)$/, 'an MP4 file'],
  [/^video\/mpeg$/, 'an MPEG program stream'],
  [/^video\/ogg$/, 'an Ogg file'],
  [/^video\/quicktime$/, 'a QuickTime file'],
  [/^video\/webm$/, 'a WebM file'],
  [/^video\/x-matroska$/, 'a Matroska file'],
  [/^video\/x-ms-asf$/, 'a Windows Media file'],
  [/^audio\/mpeg$/, 'MP3 audio'],
  [/^audio\//, 'an audio file'],
];

/** The common name of a format. */
export function wordsFor(type: string): string {
  if (!/^[a-z]+\/\S+$/.test(type)) return type;
  return words.find(([pattern]) => pattern.test(type))?.[1] ?? `a file of type ${type}`;
}
