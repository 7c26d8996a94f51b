/** What other domains may import of identity: users and their accounts. */
export { throttle, throttleId } from './throttle/messages.ts';
export { user } from './user/messages.ts';
export { ownerOf } from './user/owner.ts';
