/** One step of the schema's history. Its id names it and defines the order. It runs once, in a transaction. */
export type Migration = {
  readonly id: string;
  readonly sql: string;
  /**
   * A change of a column's definition that SQLite has no statement for and that is valid for every row there is, such
   * as allowing null. It is made before `sql` runs, and rewrites no row.
   */
  readonly columnChange?: ColumnChange;
  /** Rows that the operator is told about once, when the migration has run. */
  readonly notice?: Notice;
};

/** `sql` selects the rows, after the migration. Each is logged with the message, its columns as fields. */
type Notice = { readonly message: string; readonly sql: string };

/** A row that a migration tells the operator about. */
export type MigrationNotice = { message: string; fields: Readonly<Record<string, unknown>> };

/** `from` and `to` are the texts of the definition in the `CREATE TABLE` statement of the table. */
export type ColumnChange = { readonly table: string; readonly from: string; readonly to: string };
