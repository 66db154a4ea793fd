/** Imports what defines the operations of webhooks, which run in the threads of the database. */
import './log/replay.ts';
import './deliveries/store.ts';
import './fan-out.ts';
import './settle.ts';
import './store.ts';
