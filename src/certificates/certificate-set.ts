/**
 * All certificates of an installation: those that the configuration names, those that an authority has issued for other
 * names, and self-signed ones while none of these is for the hostname. Mail arrives encrypted whatever happens to the others.
 */
import type { Ordered, OrderedCertificates } from './acme/ordered.ts';
import { type Certificate, type CertificateFiles, coversName, type Problem } from './certificate.ts';
import { FileSource } from './file-source.ts';
import { findSelfSigned, type KeepingApp, keepSelfSigned, type SelfSigned } from './self-signed.ts';

/** `certificate` is the one in use; undefined while there is none that can be used. */
export type Listed =
  | {
      kind: 'configured' | 'self_signed';
      files: CertificateFiles;
      certificate: Certificate | undefined;
      problem: Problem | undefined;
    }
  | { kind: 'acme'; certificate: Certificate | undefined; order: Ordered };

export class CertificateSet {
  readonly #app: KeepingApp;
  readonly #sources: readonly FileSource[];
  readonly #ordered: Pick<OrderedCertificates, 'all'>;
  #selfSigned: readonly SelfSigned[] = [];

  constructor(app: KeepingApp, ordered: Pick<OrderedCertificates, 'all'>) {
    this.#app = app;
    this.#ordered = ordered;
    this.#sources = app.config.tls.certificates.map((files) => new FileSource(files, app.log));
  }

  get hasSources(): boolean {
    return this.#sources.length > 0;
  }

  /** The certificates in use. The first is for clients that ask for no name that has one. */
  get certificates(): readonly Certificate[] {
    return this.list().flatMap(({ certificate }) => certificate ?? []);
  }

  /** The certificates in use but for those of tenants' names. */
  get operatorCertificates(): readonly Certificate[] {
    return this.list().flatMap((one) => {
      const isOfTenant = one.kind === 'acme' && one.order.tenantId !== null;
      return isOfTenant || !one.certificate ? [] : [one.certificate];
    });
  }

  /** Lists the certificates of the configuration, then the one for the hostname, then those for all other names. */
  list(): Listed[] {
    const configured = this.#sources.map(
      ({ files, certificate, problem }): Listed => ({ kind: 'configured', files, certificate, problem }),
    );
    const selfSigned = this.#selfSigned.map(
      (made): Listed => ({ kind: 'self_signed', ...made, problem: undefined }),
    );
    const ordered = this.#ordered.all
      .filter(({ name }) => !this.isConfigured(name))
      .map((order): Listed & { kind: 'acme' } => ({ kind: 'acme', certificate: order.certificate, order }));
    const isOwn = ({ order }: { order: Ordered }) => order.name === this.#hostname;
    return [
      ...configured,
      ...ordered.filter(isOwn),
      ...(this.#usesOwn ? selfSigned : []),
      ...ordered.filter((one) => !isOwn(one)),
    ];
  }

  /** Returns true when a certificate of the configuration is in use for a name. Nothing is ordered for it then. */
  isConfigured(name: string): boolean {
    const now = this.#app.clock.now();
    return this.#sources.some(
      ({ certificate }) => certificate && certificate.expiresAt > now && coversName(certificate, name),
    );
  }

  get #hostname(): string {
    return this.#app.config.hostname.toLowerCase();
  }

  get #usesOwn(): boolean {
    const isOrdered = this.#ordered.all.some(
      ({ name, certificate }) => name === this.#hostname && certificate,
    );
    return !isOrdered && this.#sources.every(({ certificate }) => certificate === undefined);
  }

  /** Reads all files. Returns true when other certificates are in use afterwards. */
  async read(): Promise<boolean> {
    return this.#readSome(this.#sources);
  }

  /** Reads the files that have changed, and not since the last call. Returns true when other certificates are in use. */
  async readChanged(): Promise<boolean> {
    const changed = await Promise.all(
      this.#sources.map(async (source) => ((await source.hasSettledChange()) ? [source] : [])),
    );
    return this.#readSome(changed.flat());
  }

  async #readSome(sources: readonly FileSource[]): Promise<boolean> {
    const now = this.#app.clock.now();
    const results = await Promise.all(sources.map((source) => source.read(now)));
    return results.includes(true);
  }

  /**
   * Makes the self-signed certificates that are needed, missing or near their end. Returns true when other certificates
   * are in use afterwards.
   * @throws the error of the file system
   */
  async keepSelfSigned(): Promise<boolean> {
    if (!this.#usesOwn) return false;
    const earlier = this.#selfSigned;
    this.#selfSigned = await keepSelfSigned(this.#app);
    return this.#selfSigned.some(
      (made, index) => made.certificate.chain !== earlier[index]?.certificate.chain,
    );
  }

  /** Takes the self-signed certificates that there are, and makes none. */
  findSelfSigned(): void {
    this.#selfSigned = findSelfSigned(this.#app.config.dataDir);
  }
}
