/** Stores how public pages show a tenant. All SQL of this table is here, and nothing else writes it. Live and test keys share it. */
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, findColumns, findRow, putRow } from '../db/rows.ts';
import type { BrandingRow } from '../db/tenant-tables.ts';
import { requireContrast } from './colours.ts';

/** A brand as pages show it, without the bytes of its logo, which are read by their hash. */
export type Branding = Omit<BrandingRow, 'tenantId' | 'updatedAt' | 'logo'> & { updatedAt: number | null };

/** The branding of a tenant that has set none. */
export const NO_BRANDING: Branding = {
  name: null,
  color: null,
  textColor: null,
  darkColor: null,
  darkTextColor: null,
  logoHash: null,
  logoWidth: null,
  logoHeight: null,
  updatedAt: null,
};
const COLUMNS = Object.keys(NO_BRANDING) as (keyof Branding)[];

export type BrandingChange = Partial<Omit<BrandingRow, 'tenantId' | 'updatedAt'>>;

/** Returns how pages show a tenant. */
export async function findBranding(tx: Tx, tenantId: BrandingRow['tenantId']): Promise<Branding> {
  return (await findColumns(tx, 'brandings', { select: COLUMNS, where: { tenantId } })) ?? NO_BRANDING;
}

/** Returns the logo with this hash as PNG, or undefined when no tenant has it. */
export async function findLogo(tx: Tx, logoHash: string): Promise<Uint8Array | undefined> {
  const found = await findColumns(tx, 'brandings', { select: ['logo'], where: { logoHash } });
  return found?.logo ?? undefined;
}

type Change = { tenantId: BrandingRow['tenantId']; change: BrandingChange; now: number };

/**
 * Changes how pages show a tenant. Columns that the change does not have stay as they are.
 * @throws AppError validation_error for colours on which text cannot be read
 */
export const changeBranding = defineWrite(
  'branding.change',
  async (tx, { tenantId, change, now }: Change): Promise<Branding> => {
    await putRow(tx, 'brandings', {
      ...(await changedBranding(tx, { tenantId, change })),
      tenantId,
      updatedAt: now,
    });
    return findBranding(tx, tenantId);
  },
);

/**
 * Returns how pages would show a tenant after a change, with the bytes of the logo. Nothing is stored.
 * @throws AppError validation_error for colours on which text cannot be read
 */
export async function changedBranding(
  tx: Tx,
  { tenantId, change }: Omit<Change, 'now'>,
): Promise<Branding & Pick<BrandingRow, 'logo'>> {
  const before = await findRow(tx, 'brandings', { tenantId });
  const after = { ...NO_BRANDING, logo: null, ...before, ...change };
  requireContrast(after);
  return after;
}

/** Deletes the branding of a tenant, if it has one. */
export const deleteBranding = defineWrite(
  'branding.delete',
  async (tx, { tenantId }: Pick<BrandingRow, 'tenantId'>): Promise<void> => {
    await deleteRows(tx, 'brandings', { tenantId });
  },
);
