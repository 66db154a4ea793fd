/** LANG (RFC 6856 section 3): a client can find out that responses are in English, and choose it. */
import { type Command, refuse, sendLines } from './command.ts';

/** Tag of the language of all responses. */
const LANGUAGE = 'en';

export const lang: Command = {
  state: 'any',
  async run(connection, argument) {
    const range = argument.trim().toLowerCase();
    if (range === '') return await sendLines(connection, '+OK Languages', [`${LANGUAGE} English`]);
    // An asterisk stands for the language that the server prefers.
    if (range !== LANGUAGE && range !== '*') return refuse('Responses are in English alone');
    return { text: `${LANGUAGE} Responses are in English` };
  },
};
