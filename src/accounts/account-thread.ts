/** The module of the threads that serve accounts. */
import { serveSystemPart } from '../thread-app.ts';
import { type AccountStart, startAccounts } from './part.ts';

await serveSystemPart((app, data) => startAccounts(app, data as AccountStart));
