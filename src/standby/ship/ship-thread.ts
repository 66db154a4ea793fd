/** The module of the thread that sends to the standby store. */
import { serveSystemPart } from '../../thread-app.ts';
import { SHIP_PART } from './part.ts';

await serveSystemPart(SHIP_PART);
