import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fixture} from '../../support/media.ts';
import {exiftool} from './exiftool.ts';

export const gps = [
  ...['GPSLatitude=48.137222', 'GPSLatitudeRef=N', 'GPSLongitude=11.575556', 'GPSLongitudeRef=E'],
  ...['GPSAltitude=519.5', 'GPSAltitudeRef=above', 'GPSDateStamp=2026:01:02', 'GPSTimeStamp=10:11:12'],
].map(tag => `-GPS:${tag}`);

const direction = [
  '-GPSImgDirection=12.5',
  '-GPSImgDirectionRef=T',
  '-GPSSpeed=3.5',
  '-GPSHPositioningError=4.7',
];
const processing = ['-GPSProcessingMethod=ASCII CELLID', '-GPSMapDatum=WGS-84', '-GPSSatellites=7'];
const xmpGps = [
  '-XMP-exif:GPSLatitude=48.137222',
  '-XMP-exif:GPSLongitude=11.575556',
  '-XMP-exif:GPSAltitude=519.5',
];
const address = [
  ...[
    'photoshop:City=Munich',
    'photoshop:State=Bavaria',
    'photoshop:Country=Germany',
    'iptcCore:CountryCode=DE',
  ],
  ...[
    'iptcCore:Location=Marienplatz',
    'iptcExt:LocationCreatedCity=Munich',
    'iptcExt:LocationShownSublocation=Square',
  ],
].map(tag => `-XMP-${tag}`);
const iptc = [
  ...['City=Munich', 'Sub-location=Marienplatz', 'Province-State=Bavaria', 'Country-PrimaryLocationCode=DEU'],
  ...[
    'Country-PrimaryLocationName=Germany',
    'Keywords=square',
    'Caption-Abstract=A square',
    'ContentLocationName=Here',
  ],
].map(tag => `-IPTC:${tag}`);
const drone = [
  '-XMP-drone-dji:GPSLatitude=48.1',
  '-XMP-drone-dji:GPSLongitude=11.5',
  '-XMP-drone-dji:AbsoluteAltitude=+600.1',
];
const darwinCore = [
  ...[
    'VerbatimCoordinates=48 8 14 N 11 34 32 E',
    'Locality=Marienplatz',
    'Municipality=Munich',
    'County=Munich',
  ],
  ...['FootprintWKT=POINT (11.57 48.13)', 'WaterBody=Isar', 'Island=Praterinsel', 'Continent=Europe'],
].map(tag => `-XMP-dwc:DC${tag}`);
const keys = [
  '-Keys:GPSCoordinates=48.1372, 11.5755, 519.5',
  '-Keys:LocationName=Munich',
  '-Keys:Make=Apple',
  '-Keys:Model=iPhone 15',
];
const userData = ['-UserData:GPSCoordinates=48.1372, 11.5755, 519.5', '-UserData:Model=Pixel 8'];

const general = ['-Orientation#=6', '-DateTimeOriginal=2026:01:02 11:11:12', '-ISO=100', '-Artist=A. Person'];
const maker = (make: string, model: string) => [`-IFD0:Make=${make}`, `-IFD0:Model=${model}`, ...general];

const pictures = ['photo.jpg', 'photo.heic', 'photo.avif', 'photo.png', 'photo.webp', 'photo.tiff'];
const videos = ['clip.mp4', 'clip.mov', 'clip.m4v', 'clip.3gp'];

/** How cameras, phones and programs of these makers store a location: the formats they write first. */
export const makers: Readonly<Record<string, {files: readonly string[]; tags: readonly string[]}>> = {
  apple: {files: ['photo.heic', ...pictures], tags: [...maker('Apple', 'iPhone 15'), ...gps, ...direction]},
  appleVideo: {files: ['clip.mov', ...videos], tags: keys},
  samsung: {files: pictures, tags: [...maker('samsung', 'SM-S911B'), ...gps, '-ThumbnailImage<=THUMBNAIL']},
  samsungVideo: {files: videos, tags: [...userData, '-Keys:AndroidVersion=14']},
  google: {
    files: pictures,
    tags: [...maker('Google', 'Pixel 8'), ...gps, ...processing, '-XMP-GCamera:MotionPhoto=1'],
  },
  huawei: {files: pictures, tags: [...maker('HUAWEI', 'P30'), ...gps, ...processing, '-ExifByteOrder=MM']},
  xiaomi: {files: ['photo.jpg', 'photo.png'], tags: [...maker('Xiaomi', '13'), ...gps, '-ExifByteOrder=II']},
  canon: {
    files: ['photo.jpg', 'photo.tiff'],
    tags: [...maker('Canon', 'EOS R5'), ...gps, ...xmpGps, '-Rating=3'],
  },
  nikon: {files: ['photo.tiff', 'photo.jpg'], tags: [...maker('NIKON CORPORATION', 'Z 9'), ...gps, ...iptc]},
  sony: {files: ['photo.jpg', 'photo.heic'], tags: [...maker('SONY', 'ILCE-7M4'), ...gps, ...direction]},
  dji: {files: ['photo.jpg', 'photo.tiff'], tags: [...maker('DJI', 'FC3582'), ...gps, ...drone]},
  museum: {files: ['photo.jpg', 'photo.tiff'], tags: [...maker('Canon', 'EOS R5'), ...darwinCore]},
  djiVideo: {files: ['clip.mp4'], tags: [...userData, ...xmpGps]},
  olympus: {files: ['photo.jpg'], tags: [...maker('OM Digital Solutions', 'OM-1'), ...gps, ...direction]},
  fujifilm: {files: ['photo.jpg', 'photo.tiff'], tags: [...maker('FUJIFILM', 'X-T5'), ...gps, ...processing]},
  adobe: {
    files: ['photo.jpg', 'photo.webp', 'photo.png', 'photo.tiff'],
    tags: [
      ...maker('Canon', 'EOS 5D'),
      ...gps,
      ...xmpGps,
      ...address,
      ...iptc,
      '-XMP-dc:Title=A title',
      '-Photoshop:IPTCDigest=new',
    ],
  },
  adobeVideo: {files: videos, tags: [...xmpGps, ...address, '-XMP-dc:Title=A title']},
};

export interface Made {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Makes files in the manner of the makers in a directory: the first ones of each maker. */
export async function makeFiles(directory: string, each: number): Promise<Made[]> {
  const thumbnail = join(directory, 'thumbnail.jpg');
  await copyFile(fixture('photo.jpg'), thumbnail);
  const made: string[] = [];
  const lines: string[] = [];
  for (const [name, {files, tags}] of Object.entries(makers)) {
    for (const file of new Set(files.slice(0, each))) {
      const path = join(directory, `${name}-${file}`);
      await copyFile(fixture(file), path);
      // PNG and WebP have no IPTC metadata, which exiftool would refuse to write.
      const written = tags.filter(tag => !/^-(?:IPTC|Photoshop):/.test(tag) || /jpg|tiff/.test(file));
      lines.push(
        ...written.map(tag => tag.replace('THUMBNAIL', thumbnail)),
        '-m',
        '-overwrite_original',
        path,
        '-execute',
      );
      made.push(path);
    }
  }
  await writeFile(join(directory, 'arguments'), `${lines.join('\n')}\n`);
  await exiftool('-@', join(directory, 'arguments'));
  return Promise.all(
    made.map(async path => ({name: path.slice(directory.length + 1), bytes: await readFile(path)})),
  );
}
