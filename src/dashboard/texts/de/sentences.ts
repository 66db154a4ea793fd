import type { ErrorCode } from '../../../system/errors.ts';
import { dnsPurposes } from './dns-purposes.ts';
import { domainFindings } from './domain-findings.ts';
import { findings } from './findings.ts';
import { healthFindings } from './health-findings.ts';
import { ownRefusals } from './own-refusals.ts';
import { refusals } from './refusals.ts';
import { replyAdvice } from './reply-advice.ts';
import type { Translation } from './translation.ts';

/** Sentences of the daemon with their German translations. The first that fits is taken. */
export const sentences: readonly Translation[] = [
  ...ownRefusals,
  ...refusals,
  ...replyAdvice,
  ...findings,
  ...domainFindings,
  ...dnsPurposes,
  ...healthFindings,
];

/** Refusals in general, where their kind says what the reader has to know. */
export const refusalsByCode: Readonly<Partial<Record<ErrorCode, string>>> = {
  not_found: 'Das gibt es nicht, oder nicht mehr.',
  rate_limited: 'Das war zu oft in kurzer Zeit; versuchen Sie es gleich noch einmal.',
  unavailable: 'Der Server ist gerade ausgelastet oder nicht bereit; versuchen Sie es gleich noch einmal.',
  interrupted:
    'Ein Teil des Servers endete währenddessen; sehen Sie nach, ob es geschehen ist, und versuchen Sie es sonst noch einmal.',
  payload_too_large: 'Das ist zu groß.',
  request_timeout: 'Die Eingaben kamen zu langsam an; versuchen Sie es noch einmal.',
  idempotency_conflict: 'Dieses Formular wurde schon mit anderen Eingaben gesendet; laden Sie die Seite neu.',
  idempotency_in_progress: 'Das läuft schon; warten Sie, bis es beendet ist.',
};
