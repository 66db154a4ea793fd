/** Refusals that a page makes itself, in the language of its reader. All others are in English, and are translated when they are shown. */
import { AppError } from '../../system/errors.ts';

/** A refusal whose message is a text of the catalogue. It is thrown by pages; one of a write would lose its class between threads. */
export class TranslatedRefusal extends AppError {}

/** Returns true for a refusal that is in the language of its reader already. */
export function isTranslated(refusal: AppError): boolean {
  return refusal instanceof TranslatedRefusal;
}
