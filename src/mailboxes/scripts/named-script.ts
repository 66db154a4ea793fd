/** A script as the runner gets it. */
import { hash } from 'node:crypto';

export type NamedScript = {
  /** The name that its owner knows it by. */
  name: string;
  content: string;
  /** Hash of the content, by which threads know what they have compiled. */
  key: string;
};

/** Returns a script with its key. */
export function namedScript(name: string, content: string): NamedScript {
  return { name, content, key: hash('sha256', content, 'base64') };
}
