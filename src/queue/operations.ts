/** Imports what defines the operations of queue, which run in the threads of the database. */
import './attempts-store.ts';
import './claim.ts';
import './due-store.ts';
import './feedback.ts';
import './held/probe.ts';
import './notifications-store.ts';
import './settle.ts';
import './state/cancel-submitted.ts';
import './state/hold.ts';
import './state/recover.ts';
import './store.ts';
import './submitted/store.ts';
