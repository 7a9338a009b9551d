"""A GPU through the CUDA driver library: load machine code, launch a kernel whose parameters are given as bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 0  # entries of cuLaunchKernel's "extra"
_CAPABILITY = (75, 76)  # attributes: major and minor compute capability
_DYNAMIC_SHARED = 8  # function attribute: limit of dynamic shared memory


class DeviceError(Exception):
    """There is no GPU, or the driver refused something."""


class Device:
    """The first GPU."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise DeviceError("a CUDA GPU must be there: libcuda.so.1 was not found") from None
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        text, version = ctypes.create_string_buffer(256), ctypes.c_int()
        self.call("cuDeviceGetName", text, 256, device)
        self.name = text.value.decode()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
        self.capability = "".join(str(self._attribute(device, number)) for number in _CAPABILITY)

    def _attribute(self, device: ctypes.c_int, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises :class:`DeviceError` unless it succeeds."""
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise DeviceError(f"{name} failed: {(text.value or b'unknown error').decode()}")

    def module(self, code: bytes) -> ctypes.c_void_p:
        """Load a cubin, or PTX that the driver compiles."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code))
        return module

    def upload(self, data: bytes) -> int:
        """Address of a copy of the bytes in device memory; it stays there."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 1)))
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_char_p(data), ctypes.c_size_t(len(data)))
        return address.value

    def download(self, address: int, size: int) -> np.ndarray:
        """Bytes of device memory."""
        data = np.zeros(size, dtype=np.uint8)
        pointer = data.ctypes.data_as(ctypes.c_void_p)
        self.call("cuMemcpyDtoH_v2", pointer, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data

    def free(self, addresses: Mapping[str, int]) -> None:
        """Give device memory back."""
        for address in addresses.values():
            self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def launch(
        self,
        module: ctypes.c_void_p,
        name: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        shared: int = 0,
    ) -> None:
        """Run a kernel to its end; ``parameters`` is its parameter block, laid out as in C."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, shared)
        data, size = ctypes.create_string_buffer(parameters, len(parameters)), ctypes.c_size_t(len(parameters))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER_POINTER, ctypes.addressof(data), _BUFFER_SIZE, ctypes.addressof(size), _END
        )
        self.call("cuLaunchKernel", function, *grid, *block, shared, None, None, extra)
        self.call("cuCtxSynchronize")
