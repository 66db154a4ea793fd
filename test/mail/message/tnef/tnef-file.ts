/** Writes TNEF for tests (MS-OXTNEF). */

const u16 = (value: number) => {
  const octets = Buffer.alloc(2);
  octets.writeUInt16LE(value);
  return octets;
};
export const u32 = (value: number) => {
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(value);
  return octets;
};

/** Returns the octets of a file. */
export function tnef(...attributes: Buffer[]): Buffer {
  return Buffer.concat([u32(0x223e9f78), u16(1), ...attributes]);
}

export function attribute(id: number, value: Buffer | string): Buffer {
  const octets = Buffer.from(value);
  return Buffer.concat([
    Buffer.from([id === 0x00069003 ? 1 : 2]),
    u32(id),
    u32(octets.length),
    octets,
    u16(0),
  ]);
}

/** Returns a list of properties: text as UTF-16, octets, or a number. */
export function properties(...all: { id: number; type?: number; value: Buffer | string | number }[]): Buffer {
  return Buffer.concat([u32(all.length), ...all.map(writeProperty)]);
}

function writeProperty({
  id,
  type,
  value,
}: {
  id: number;
  type?: number;
  value: Buffer | string | number;
}): Buffer {
  if (typeof value === 'number') return Buffer.concat([u16(type ?? 3), u16(id), u32(value)]);
  const octets = typeof value === 'string' ? Buffer.from(`${value}\0`, 'utf16le') : value;
  const padding = Buffer.alloc(-octets.length & 3);
  // A property with a name has a GUID and a number.
  const name = id >= 0x8000 ? [Buffer.alloc(16), u32(0), u32(id)] : [];
  const kind = type ?? (typeof value === 'string' ? 0x1f : 0x102);
  return Buffer.concat([u16(kind), u16(id), ...name, u32(1), u32(octets.length), octets, padding]);
}

/** Returns the attributes of an attachment. */
export function attachment(title: string, data: Buffer | undefined, list = properties()): Buffer[] {
  return [
    attribute(0x00069002, Buffer.alloc(14)),
    attribute(0x00018010, `${title}\0`),
    ...(data ? [attribute(0x0006800f, data)] : []),
    attribute(0x00069005, list),
  ];
}

/** Returns rich text that consists of octets without references. */
export function richText(text: string): Buffer {
  const groups = text.match(/[\s\S]{1,8}/g) ?? [];
  const body = Buffer.concat(groups.map((group) => Buffer.from(`\0${group}`, 'latin1')));
  return Buffer.concat([u32(body.length + 12), u32(text.length), u32(0x75465a4c), u32(0), body]);
}
