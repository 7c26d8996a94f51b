/** What other domains may use of identity: who somebody is. */
export { throttle, throttleId } from './throttle/messages.ts';
export { user } from './user/messages.ts';
export { ownerOf } from './user/owner.ts';
