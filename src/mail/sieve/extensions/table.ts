/** All extensions of the language. To add one, write its file and add it here. */
import { BASE, type Extension } from '../compile/definition.ts';
import { BASE_LANGUAGE } from './base/base.ts';
import { FILEINTO } from './fileinto.ts';

export const EXTENSIONS: readonly Extension[] = [BASE_LANGUAGE, FILEINTO];

/** Capabilities that ManageSieve advertises (RFC 5804 section 1.7) and that `require` accepts. */
export const SIEVE_EXTENSIONS: readonly string[] = EXTENSIONS.map(({ name }) => name).filter(
  (name) => name !== BASE,
);
