/** The curves of warm-ups (config/warm-up.yaml): how much mail a new source may send on each of its first days. */
import { type Static, Type } from 'typebox';
import { DataTableError, parseShape, readTable } from '../../../config/data-table.ts';
import { dataFilePath } from '../../../data-files.ts';
import { packagedProviders } from '../../../providers/table.ts';

/** Sites that belong to no provider of the table count together under this name. */
export const OTHER_PROVIDER = 'other';

/** Maximum number of days of a curve: a year. */
const MAX_DAYS = 366;

const days = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), {
  minItems: 1,
  maxItems: MAX_DAYS,
});
const strict = { additionalProperties: false };
const curveSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' }),
    days,
    providers: Type.Optional(Type.Record(Type.String(), days)),
    origin: Type.String({ minLength: 1 }),
  },
  strict,
);
export type Curve = Static<typeof curveSchema>;
const fileSchema = Type.Object({ curves: Type.Array(curveSchema, { minItems: 1 }) }, strict);

type Curves = ReadonlyMap<string, Curve>;

/**
 * Returns the curves of a text in YAML, by their names.
 * @throws DataTableError
 */
export function parseCurves(yaml: string): Curves {
  const curves = new Map<string, Curve>();
  const known = [OTHER_PROVIDER, ...packagedProviders().providers.map(({ name }) => name)];
  for (const curve of parseShape(fileSchema, yaml).curves) {
    const refuse = (problem: string) => new DataTableError(`curves: row "${curve.name}": ${problem}`);
    if (curves.has(curve.name)) throw refuse('another row has the same name');
    const stranger = Object.keys(curve.providers ?? {}).find((provider) => !known.includes(provider));
    if (stranger !== undefined) throw refuse(`config/providers.yaml has no provider ${stranger}`);
    curves.set(curve.name, curve);
  }
  return curves;
}

let packaged: Curves | undefined;

/** Returns the curves that come with the program. */
export function packagedCurves(): Curves {
  packaged ??= readTable(dataFilePath('warm-up.yaml'), parseCurves);
  return packaged;
}

/**
 * Returns the number of first attempts that a curve allows to a provider on a day, of which the first is 0; undefined after its last day,
 * when the source is warm there.
 */
export function capOn(curve: Curve, provider: string, day: number): number | undefined {
  const own =
    curve.providers !== undefined && Object.hasOwn(curve.providers, provider)
      ? curve.providers[provider]
      : undefined;
  return (own ?? curve.days)[Math.max(day, 0)];
}

/** Returns the number of days after which a source is warm at all providers. */
export function lengthOf({ days: all, providers = {} }: Curve): number {
  return Math.max(all.length, ...Object.values(providers).map((own) => own.length));
}
