/**
 * All certificates of an installation: those that the configuration names, or self-signed ones while none of these can be
 * used. Mail arrives encrypted whatever happens to the files.
 */
import type { Certificate, CertificateFiles, Problem } from './certificate.ts';
import { FileSource } from './file-source.ts';
import { findSelfSigned, type KeepingApp, keepSelfSigned, type SelfSigned } from './self-signed.ts';

export type Listed = {
  kind: 'configured' | 'self_signed';
  files: CertificateFiles;
  /** The certificate in use; undefined when the files have not been usable since the start. */
  certificate: Certificate | undefined;
  problem: Problem | undefined;
};

export class CertificateSet {
  readonly #app: KeepingApp;
  readonly #sources: readonly FileSource[];
  #selfSigned: readonly SelfSigned[] = [];

  constructor(app: KeepingApp) {
    this.#app = app;
    this.#sources = app.config.tls.certificates.map((files) => new FileSource(files, app.log));
  }

  get hasSources(): boolean {
    return this.#sources.length > 0;
  }

  /** The certificates in use, in the order of the configuration. */
  get certificates(): readonly Certificate[] {
    return this.list().flatMap(({ certificate }) => certificate ?? []);
  }

  /** Lists the certificates of the configuration, then those that stand in for them. */
  list(): Listed[] {
    const configured = this.#sources.map(
      ({ files, certificate, problem }): Listed => ({ kind: 'configured', files, certificate, problem }),
    );
    const selfSigned = this.#selfSigned.map(
      (made): Listed => ({ kind: 'self_signed', ...made, problem: undefined }),
    );
    return [...configured, ...(this.#usesOwn ? selfSigned : [])];
  }

  get #usesOwn(): boolean {
    return this.#sources.every(({ certificate }) => certificate === undefined);
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
