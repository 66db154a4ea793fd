import type { resting as english } from '../en/resting.ts';

/** Texts of the operator's page that lists what keeps the mail of sites. */
export const resting: typeof english = {
  title: 'Ruhende Ziele',
  text: 'Ziele, deren E-Mails ruhen, ausgesetzt oder gedrosselt sind, und Ziele, die weitere Verbindungen abgelehnt haben. Ein Ziel hat eine Zeile für jeden Grund. Alles endet von selbst, außer dem, was Sie ausgesetzt haben.',
  none: 'Kein Ziel ruht, und keines wird gedrosselt.',
  shown: (count, total) => `${count} von ${total} werden gezeigt, die mit den meisten E-Mails zuerst.`,
  ofTenant: 'E-Mails des Mandanten',
  ofSource: (name) => `E-Mails von der Quelle ${name}`,
  waiting: 'Wartende',
  cause: 'Aufgehalten durch',
  causes: {
    failures: 'eine Ruhezeit nach Fehlern',
    probe: 'die erste E-Mail nach einer Ruhezeit',
    rate: 'das Tempo',
    learned: 'Verbindungen, die es abgelehnt hat',
    rule: 'die Drosselregel',
    hold: 'den Betreiber, der es ausgesetzt hat',
  },
  until: 'Bis',
  open: 'bis Sie es fortsetzen',
  reason: 'Warum',
  forget: 'Gelerntes vergessen',
  forgetLearned: 'Vergessen',
  forgetText:
    'Vergessen werden die Zahl der Verbindungen, die es annimmt, seine Fehler und Ruhezeiten und wie oft seine Antworten auf Drosselregeln zutrafen: Es wird wie ein neues Ziel behandelt. Was Regeln auferlegt haben, bleibt.',
  learned: 'Gelerntes',
  learnedOf: (connections, failures) =>
    `Verbindungen: höchstens ${connections}; Fehler nacheinander: ${failures}`,
  learnedUntil: 'Es hat weitere Verbindungen abgelehnt und wird um eine mehr gebeten ab',
};
