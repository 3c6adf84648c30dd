export { JsonRpcErrorFormat } from './json-rpc-error-format.js';
export { JsonRpcMessageGuard } from './json-rpc-message.guard.js';
export {
  calledTool,
  idOf,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
} from './json-rpc-message.js';
