/** Writes the definition of tables in the SQL of SQLite, from their description. */
import type { Columns, Described, Table } from './table.ts';

const TYPES = { text: 'TEXT', integer: 'INTEGER', real: 'REAL', bytes: 'BLOB' };

/** Returns the SQL that creates the tables and their indexes. */
export function createTables(tables: Described): string {
  return Object.entries(tables).flatMap(createTable).join('');
}

function createTable([name, { columns, isClustered, indexes }]: [string, Table]): string[] {
  const keys = Object.keys(columns).filter((column) => columns[column]?.isKey);
  const definitions = Object.entries(columns).map(
    ([column, description]) => `${quote(column)} ${define(description, keys.length === 1)}`,
  );
  if (keys.length > 1) definitions.push(`PRIMARY KEY (${keys.map(quote).join(', ')})`);
  const options = isClustered ? 'STRICT, WITHOUT ROWID' : 'STRICT';
  return [
    `CREATE TABLE ${quote(name)} (\n  ${definitions.join(',\n  ')}\n) ${options};\n`,
    ...Object.entries(indexes).map(([index, spec]) => createIndex(`${quote(index)} ON ${quote(name)}`, spec)),
  ];
}

function define(column: Columns[string], isOnlyKey: boolean): string {
  const { type, isNullable, isKey, isNumbered, isUnique, initially, parent } = column;
  let definition = TYPES[type];
  if (isNumbered || (isKey && isOnlyKey)) definition += ' PRIMARY KEY';
  else if (!isNullable) definition += ' NOT NULL';
  if (isUnique) definition += ' UNIQUE';
  if (typeof initially === 'number') definition += ` DEFAULT ${initially}`;
  if (typeof initially === 'string') definition += ` DEFAULT '${initially}'`;
  if (parent) definition += ` REFERENCES ${quote(parent.table)}${parent.deletes ? ' ON DELETE CASCADE' : ''}`;
  return definition;
}

function createIndex(place: string, spec: string): string {
  const isUnique = spec.startsWith('UNIQUE ');
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${place} ${spec.replace('UNIQUE ', '')};\n`;
}

function quote(name: string): string {
  return `"${name}"`;
}
