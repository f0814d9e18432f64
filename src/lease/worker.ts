/**
 * The file of the candidate's thread: stands for election on its own connection to the API server,
 * so that neither a busy main thread nor its requests can delay a renewal.
 */
import { createClientFactory } from '../kube/index.ts';
