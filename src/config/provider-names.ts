/** The names of providers that settings may use. The table itself belongs to providers/table.ts, which needs the configuration. */
import { Type } from 'typebox';
import { dataFilePath } from '../data-files.ts';
import { parseShape, readTable } from './data-table.ts';

const namesSchema = Type.Object({ providers: Type.Array(Type.Object({ name: Type.String() })) });

let names: readonly string[] | undefined;

/** Returns the names of the rows of config/providers.yaml. */
export function providerNames(): readonly string[] {
  names ??= readTable(dataFilePath('providers.yaml'), (yaml) =>
    parseShape(namesSchema, yaml).providers.map(({ name }) => name),
  );
  return names;
}
