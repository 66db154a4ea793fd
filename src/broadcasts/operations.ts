/** Imports what defines the operations of broadcasts, which run in the threads of the database. */
import './approval/decide.ts';
import './approval/request.ts';
import './change-pace.ts';
import './clicked-links/export.ts';
import './control.ts';
import './copies-in-queue.ts';
import './copy.ts';
import './preflight/store.ts';
import './recipients/export.ts';
import './recipients/providers.ts';
import './runs/start.ts';
import './runs/state.ts';
import './store.ts';
import './enumerate.ts';
