"""The log names S3's operations as boto3 does, also where only a header tells them apart."""

from __future__ import annotations

from tests.twin.aws.serving import TwinUnderTest


def test_an_upload_is_no_copy(twin: TwinUnderTest) -> None:
    s3 = twin.client("s3")
    s3.create_bucket(Bucket="names", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket="names", Key="scripts/on_create.sh", Body=b"#!/bin/sh\n")
    s3.copy_object(Bucket="names", Key="copy.sh", CopySource={"Bucket": "names", "Key": "scripts/on_create.sh"})

    effects = twin.effects()
    assert (effects["s3:PutObject"], effects["s3:CopyObject"]) == (1, 1)
    assert s3.get_object(Bucket="names", Key="copy.sh")["Body"].read() == b"#!/bin/sh\n"
