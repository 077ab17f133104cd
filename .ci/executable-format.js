/** The platform of a file that a system can start, such as linux-x64, and the blob by which Node makes it a single executable. */
export function platformAndBlob(bytes) {
  if (bytes.readUInt32BE(0) === 0x7f454c46) return elf(bytes);
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return machO(bytes);
  if (bytes.readUInt16BE(0) === 0x4d5a) return portable(bytes);
  throw new Error('This is neither an ELF, a Mach-O nor a PE file.');
}

const blobName = 'NODE_SEA_BLOB';

/** Linux: a note of this name, in a segment. */
function elf(bytes) {
  const platform = {62: 'linux-x64', 183: 'linux-arm64'}[bytes.readUInt16LE(18)];
  const [start, size, count] = [
    Number(bytes.readBigUInt64LE(32)),
    ...[54, 56].map(at => bytes.readUInt16LE(at)),
  ];
  const noteType = 4;
  const aligned = length => Math.ceil(length / 4) * 4;
  for (let at = start; at < start + size * count; at += size) {
    if (bytes.readUInt32LE(at) !== noteType) continue;
    let note = Number(bytes.readBigUInt64LE(at + 8));
    const end = note + Number(bytes.readBigUInt64LE(at + 32));
    while (note < end) {
      const [nameLength, length] = [bytes.readUInt32LE(note), bytes.readUInt32LE(note + 4)];
      const content = note + 12 + aligned(nameLength);
      if (text(bytes, note + 12, nameLength) === blobName)
        return {platform, blob: bytes.subarray(content, content + length)};
      note = content + aligned(length);
    }
  }
  return {platform};
}

/** macOS: a section of this name, in the segment NODE_SEA. */
function machO(bytes) {
  const platform = {16777228: 'darwin-arm64', 16777223: 'darwin-x64'}[bytes.readUInt32LE(4)];
  const segmentCommand = 0x19;
  let at = 32;
  for (let left = bytes.readUInt32LE(16); left > 0; left -= 1) {
    const [command, size] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    if (command === segmentCommand && text(bytes, at + 8, 16) === 'NODE_SEA')
      for (let section = at + 72; section < at + size; section += 80) {
        const start = bytes.readUInt32LE(section + 48);
        const blob = bytes.subarray(start, start + Number(bytes.readBigUInt64LE(section + 40)));
        if (text(bytes, section, 16).endsWith(blobName)) return {platform, blob};
      }
    at += size;
  }
  return {platform};
}

/** Windows: a resource of this name, of the type for any bytes (RT_RCDATA). */
function portable(bytes) {
  const header = bytes.readUInt32LE(60);
  const platform = {34404: 'win-x64', 43620: 'win-arm64'}[bytes.readUInt16LE(header + 4)];
  const optional = header + 24;
  const sections = optional + bytes.readUInt16LE(header + 20);
  const offsetOf = address => {
    for (let at = sections; at < sections + 40 * bytes.readUInt16LE(header + 6); at += 40) {
      const [size, start, , from] = [8, 12, 16, 20].map(field => bytes.readUInt32LE(at + field));
      if (address >= start && address < start + size) return from + address - start;
    }
    throw new Error(`No section has the address ${address}.`);
  };
  const resources = offsetOf(bytes.readUInt32LE(optional + 112 + 16));
  /** The offset of what a directory has under this key: a number, a name, or undefined for its first entry. */
  const entry = (directory, key) => {
    const count = bytes.readUInt16LE(directory + 12) + bytes.readUInt16LE(directory + 14);
    for (let at = directory + 16; at < directory + 16 + 8 * count; at += 8) {
      const [id, child] = [bytes.readUInt32LE(at), resources + (bytes.readUInt32LE(at + 4) & 0x7fffffff)];
      if (key === undefined || id === key || nameAt(id) === key) return child;
    }
    return undefined;
  };
  const nameAt = id => {
    if (id < 0x80000000) return undefined;
    const at = resources + (id & 0x7fffffff);
    return bytes.toString('utf16le', at + 2, at + 2 + 2 * bytes.readUInt16LE(at));
  };
  const types = entry(resources, 10);
  const named = types === undefined ? undefined : entry(types, blobName);
  if (named === undefined) return {platform};
  const data = entry(named);
  const start = offsetOf(bytes.readUInt32LE(data));
  return {platform, blob: bytes.subarray(start, start + bytes.readUInt32LE(data + 4))};
}

function text(bytes, at, length) {
  return bytes.toString('latin1', at, at + length).replace(/\0.*$/s, '');
}
