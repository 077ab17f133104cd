import {fixture, serviceWithKey, sha256, upload} from '../../embedded/support.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {concurrently} from '../../support/experiment/tally.ts';

/** Every container that the embedded service reads. */
const containers: Readonly<Record<string, string>> = {
  'clip.mp4': 'video/mp4',
  'clip.m4v': 'video/x-m4v',
  'fragmented.mp4': 'video/mp4',
  'clip.mov': 'video/quicktime',
  'clip.3gp': 'video/3gpp',
  'clip.mkv': 'video/matroska',
  'clip.webm': 'video/webm',
  'clip.m2ts': 'video/mp2t',
  'photo.png': 'image/png',
  'photo.jpg': 'image/jpeg',
  'photo.gif': 'image/gif',
  'photo.webp': 'image/webp',
  'photo.bmp': 'image/bmp',
  'photo.tiff': 'image/tiff',
  'photo.svg': 'image/svg+xml',
  'photo.heic': 'image/heic',
  'photo.avif': 'image/avif',
  'favicon.ico': 'image/x-icon',
};

/** Changes up to `most` places, half of them where a container begins; cuts or lengthens now and then. */
function mutated(whole: Buffer, most: number, random: () => number): Buffer<ArrayBuffer> {
  const below = (limit: number) => Math.floor(random() * limit);
  const bytes = Buffer.from(whole);
  const head = Math.min(bytes.length, 1_200);
  const at = () => (random() < 0.5 ? below(head) : bytes.length - 1 - below(head));
  for (let changes = below(most); changes >= 0; changes -= 1) {
    const place = at();
    const kind = below(3);
    if (kind === 0) bytes[place] = below(256);
    else if (kind === 1) bytes.fill(0xff, place, Math.min(place + 4, bytes.length));
    else bytes[place] = 0;
  }
  const odd = Buffer.alloc(below(12), below(256));
  const end = random() < 0.2 ? below(bytes.length) + 1 : bytes.length;
  return Buffer.concat([bytes.subarray(0, end), random() < 0.3 ? odd : Buffer.alloc(0)]);
}

experiment('embedded service: mutated media over every container, each answered', async ({scale, random}) => {
  const {service, key} = await serviceWithKey();
  const whole = await Promise.all(
    Object.entries(containers).map(async ([name, type]) => ({name, type, bytes: await fixture(name)})),
  );
  // Two seconds pass with each file that has to be given up: of those with one or two changes, there are few.
  const [tried, most] = scale === 'long' ? [5_000, 6] : [180, 2];
  const broken: string[] = [];
  const sent = new Set<string>();
  const trials = Array.from({length: tried}, (_, index) => {
    const {name, type, bytes} = whole[index % whole.length] as (typeof whole)[number];
    return {what: `${index}: ${name}`, type, body: mutated(bytes, most, random)};
  });
  await concurrently(trials, 8, async ({what, type, body}) => {
    sent.add(sha256(body));
    const response = await upload(service, key, body, {'Content-Type': type}).catch(String);
    if (typeof response === 'string') broken.push(`${what}: ${response}`);
    else if (response.status !== 200) broken.push(`${what}: ${response.status} ${await response.text()}`);
    else await response.body?.cancel();
  });
  const stored = new Set((await service.records()).map(({sha256: digest}) => digest));
  for (const digest of sent) if (!stored.has(digest)) broken.push(`${digest} is not stored`);
  return {tried, held: tried - broken.length, broken, note: `${whole.length} containers`};
});
