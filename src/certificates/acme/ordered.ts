/** The certificates by ACME that are there, as listeners and operators see them. The database has the truth. */
import type { App } from '../../app.ts';
import type { AcmeCertificateRow } from '../../db/own-tables.ts';
import { nextSlice } from '../../system/slices.ts';
import { type Certificate, parseCertificate } from '../certificate.ts';
import { tryOpenCertificateKey } from './certificate-key.ts';
import { findCertificate, listKnownNames, listOperatorCertificates } from './store.ts';

export type OrderedApp = Pick<App, 'sealer' | 'log'> & { db: Pick<App['db'], 'read'> };

/** A name, with its certificate as soon as there is one, and with what has become of the last attempt. */
export type Ordered = Pick<
  AcmeCertificateRow,
  'name' | 'tenantId' | 'directory' | 'renewAt' | 'nextAttemptAt' | 'failures' | 'lastError' | 'lastErrorAt'
> & { certificate: Certificate | undefined };

export class OrderedCertificates {
  readonly #app: OrderedApp;
  readonly #byName = new Map<string, Ordered>();

  private constructor(app: OrderedApp) {
    this.#app = app;
  }

  /** Reads the certificates of the operator's names from the database. Those of tenants follow by `loadTenants`. */
  static async open(app: OrderedApp): Promise<OrderedCertificates> {
    const ordered = new OrderedCertificates(app);
    for (const row of await listOperatorCertificates(app.db.read)) ordered.#keep(row);
    return ordered;
  }

  /**
   * Reads the certificates of tenants' names, one in each turn of the event loop: each takes a millisecond, and there may be
   * thousands. Returns true when there are some.
   */
  async loadTenants(): Promise<boolean> {
    let isChanged = false;
    for (const { name, tenantId } of await listKnownNames(this.#app.db.read)) {
      if (tenantId === null) continue;
      isChanged = (await this.reload([name])) || isChanged;
      await nextSlice();
    }
    return isChanged;
  }

  /** All names, in the order in which they were added. */
  get all(): readonly Ordered[] {
    return [...this.#byName.values()];
  }

  /** Returns the names whose stored certificate cannot be used, although it was issued. */
  get unusable(): readonly string[] {
    return this.all.flatMap(({ name, certificate, renewAt }) =>
      certificate === undefined && renewAt !== null ? [name] : [],
    );
  }

  /** Reads some names again. Returns true when other certificates are there afterwards. */
  async reload(names: readonly string[]): Promise<boolean> {
    let isChanged = false;
    for (const name of names) {
      const earlier = this.#byName.get(name)?.certificate?.chain;
      const row = await findCertificate(this.#app.db.read, name);
      if (row) this.#keep(row);
      else this.#byName.delete(name);
      if (this.#byName.get(name)?.certificate?.chain !== earlier) isChanged = true;
    }
    return isChanged;
  }

  #keep(row: AcmeCertificateRow): void {
    const { name, tenantId, directory, renewAt, nextAttemptAt, failures, lastError, lastErrorAt } = row;
    this.#byName.set(name, {
      name,
      tenantId,
      directory,
      renewAt,
      nextAttemptAt,
      failures,
      lastError,
      lastErrorAt,
      certificate: readCertificate(this.#app, row),
    });
  }
}

/** Returns the certificate of a row; undefined while it has none, and when what is stored cannot be used. */
export function readCertificate(
  app: Pick<App, 'sealer' | 'log'>,
  row: AcmeCertificateRow,
): Certificate | undefined {
  if (row.chain === null) return undefined;
  const key = tryOpenCertificateKey(app, row, row.privateKeySealed);
  if (key === undefined) return undefined;
  const files = { certificate: row.name, key: row.name };
  const parsed = parseCertificate(files, { certificate: row.chain, key });
  return 'certificate' in parsed ? parsed.certificate : undefined;
}
