/** Imports what defines the operations of mailbox delivery, which run in the threads of the database. */
import './forward/settle.ts';
import './forward/store.ts';
import './put-back.ts';
import './scripts/plan-store.ts';
import './scripts/settle.ts';
import './sender-reports/settle.ts';
