/** Reads what a request says about a brand: colours as they are stored, and the logo decoded and written anew. */
import { hash } from 'node:crypto';
import { invalid } from '../system/errors.ts';
import type { System } from '../system/system.ts';
import { readColour } from './colours.ts';
import { createLogoReader, type LogoReader, MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from './logo/reader.ts';
import type { BrandingBody } from './schemas.ts';
import type { BrandingChange } from './store.ts';

/** Limits of the file of a logo. */
export const LOGO_LIMITS = { bytes: MAX_IMAGE_BYTES, pixels: MAX_IMAGE_PIXELS };

export type BrandingReader = {
  /** @throws AppError validation_error naming the field, unavailable while another logo is read */
  read(body: BrandingBody, tenantId: string): Promise<BrandingChange>;
};

/** Returns the reader. All operations share one, because logos are read one at a time. */
export function createBrandingReader(app: Pick<System, 'clock' | 'log'>): BrandingReader {
  const logos = createLogoReader(app);
  return { read: (body, tenantId) => readChange(logos, body, tenantId) };
}

const COLOURS = ['color', 'textColor', 'darkColor', 'darkTextColor'] as const;

async function readChange(logos: LogoReader, body: BrandingBody, owner: string): Promise<BrandingChange> {
  const { name, logo } = body;
  const colours = COLOURS.flatMap((field) => {
    const value = body[field];
    return value === undefined ? [] : [[field, readColour(field, value)] as const];
  });
  return {
    ...(name !== undefined && { name }),
    ...Object.fromEntries(colours),
    ...(logo !== undefined && (await readLogo(logos, logo, owner))),
  };
}

type LogoColumns = Pick<BrandingChange, 'logo' | 'logoHash' | 'logoWidth' | 'logoHeight'>;

async function readLogo(logos: LogoReader, base64: string | null, owner: string): Promise<LogoColumns> {
  if (base64 === null) return { logo: null, logoHash: null, logoWidth: null, logoHeight: null };
  const { png, width, height } = await logos.read(decode(base64), owner);
  const logoHash = hash('sha256', png, 'base64url');
  return { logo: png, logoHash, logoWidth: width, logoHeight: height };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decode(base64: string): Buffer {
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) throw invalid('logo', '`logo` must be base64');
  return Buffer.from(base64, 'base64');
}
