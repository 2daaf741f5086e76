"""A running system: a chain with contracts, registered models and a prover, whose places stand in the environment.
`npm run test:python` starts one."""

from __future__ import annotations

import os
from typing import Any

import pytest
import pytest_asyncio
from eth_account import Account
from eth_account.signers.local import LocalAccount
from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3

import assay
from assay import Assay, AsyncAssay, Deployment

from ..vectors import ROOT

MODELS = ROOT / "models"


def setting(name: str) -> str:
    if name not in os.environ:
        pytest.fail(f"{name} is not set: run npm run test:python", pytrace=False)
    return os.environ[name]


@pytest.fixture(scope="session")
def rpc_url() -> str:
    return setting("ASSAY_TEST_RPC")


@pytest.fixture(scope="session")
def deployment() -> Deployment:
    return assay.read_deployment(setting("ASSAY_TEST_DEPLOYMENT"))


@pytest.fixture(scope="session")
def account() -> LocalAccount:
    signer: LocalAccount = Account.from_key(setting("ASSAY_TEST_KEY"))
    return signer


@pytest.fixture(scope="session")
def w3(rpc_url: str) -> Web3:
    return Web3(HTTPProvider(rpc_url))


@pytest.fixture(scope="session")
def chain(w3: Web3, deployment: Deployment, account: LocalAccount) -> Assay:
    return assay.connect(w3, deployment, account)


@pytest_asyncio.fixture
async def async_chain(rpc_url: str, deployment: Deployment, account: LocalAccount) -> Any:
    w3 = AsyncWeb3(AsyncHTTPProvider(rpc_url))
    client: AsyncAssay = await assay.connect_async(w3, deployment, account)
    yield client
    await client.w3.provider.disconnect()
