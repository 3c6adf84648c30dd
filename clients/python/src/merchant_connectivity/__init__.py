"""A typed client of the Merchant Connectivity Service, and the verification of its webhooks."""

from . import schemas, webhooks
from ._client import AsyncMerchantConnectivity, MerchantConnectivity
from ._exchange import Attempt, Exchange, RateLimit
from ._pages import AsyncPages, Page, Pages
from ._requests import UNSET, RequestOptions, Unset
from ._transport import AsyncSecret, Secret
from ._version import VERSION as __version__
from .errors import ApiConnectionError, ApiError, MerchantConnectivityError, SignatureError

__all__ = [
    "UNSET",
    "ApiConnectionError",
    "ApiError",
    "AsyncMerchantConnectivity",
    "AsyncPages",
    "AsyncSecret",
    "Attempt",
    "Exchange",
    "MerchantConnectivity",
    "MerchantConnectivityError",
    "Page",
    "Pages",
    "RateLimit",
    "RequestOptions",
    "Secret",
    "SignatureError",
    "Unset",
    "__version__",
    "schemas",
    "webhooks",
]
