/** Imports what defines the operations of tracking, which run in the threads of the database. */
import './engagements/record.ts';
import './engagements/store.ts';
import './classification/store.ts';
import './settle.ts';
